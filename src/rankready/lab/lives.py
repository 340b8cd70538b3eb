"""The lives of the servers: what starts in each, how one ends, how it is started anew (facts/lab 5)."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab import entering, firewall, run_folder, sshd, sweep
from rankready.lab.entering import enter
from rankready.lab.fabric import NETNS
from rankready.lab.gate import Gate
from rankready.lab.relay import SSH_PORT
from rankready.lab.server import STATE
from rankready.lab.spec import Ssh
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from rankready.lab.lldpd import Daemons
    from rankready.lab.memory import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.ssh_keys import Keys
    from rankready.lab.wiring import Wiring

CONF = "etc/hccn.conf"
_SSHD_TIMEOUT_S = 15.0
_LOOK_S = 0.02


@dataclass(slots=True, kw_only=True)
class Lives:
    """``pids`` holds each living server's pid 1 and changes when one is started anew."""

    spec: LabSpec
    wiring: Wiring
    overlay: bool
    pids: dict[str, int]
    daemons: Daemons | None
    memory: Memory
    keys: Keys | None = None
    _confs: dict[str, str] = field(default_factory=dict)

    def boot(self, server: str) -> None:
        """Start what the server's own init would start; returns once it answers. Raises LabError."""
        lines = [firewall.boot_line(self.spec)]
        if self.daemons is not None:
            lines.append(self.daemons.boot_line())
        if self.spec.ssh is Ssh.OPENSSH and self.keys is not None:
            sshd.furnish(self.root(server), self.keys.hosts[server], self.keys.client)
            lines.append(sshd.START)
        for line in lines:
            if line != ":":
                self.run(server, "sh", "-ec", line)
        if self.spec.ssh is Ssh.OPENSSH:
            self._wait_sshd(server)

    def end(self, server: str) -> None:
        """Cut the power: every process ends at once, and what only memory held is lost. Raises LabError."""
        self._confs[server] = (self.root(server) / CONF).read_text(errors="replace")
        members = sweep.inhabitants(self.pids[server])
        sweep.send([p for p in members if p.pid == self.pids[server]], signal.SIGKILL)
        sweep.wait_gone(members)
        netns = self.wiring.machine(server).netns
        with suppress(LabError):  # without nft there is no rule to lose
            entering.told(("nsenter", f"--net={NETNS / netns}", "nft", "flush", "ruleset"), "nft")
        run_folder.forget(STATE / server / "lab")

    def start(self, server: str) -> None:
        """Build the server anew around its files and boot it. Raises LabError."""
        asked = {
            "spec": self.spec.told(),
            "directory": str(self.spec.directory),
            "server": server,
            "overlay": self.overlay,
            "conf": self._confs.get(server, ""),
        }
        # A fresh process: ours has threads, and a mount namespace wants a caller with one.
        words = (sys.executable, "-P", "-m", "rankready.lab.rebirth", json.dumps(asked))
        said = entering.told(words, server, env=os.environ).strip()
        if not said.isdecimal():
            raise LabError(f"{server} did not come up again: {said}", zh=f"{server} 未能重新启动：{said}")
        self.pids[server] = int(said)
        self.memory.join(server, sweep.inhabitants(self.pids[server]))
        self.boot(server)

    def set_memory(self, server: str, megabytes: int | None) -> None:
        """See World."""
        processes = sweep.inhabitants(self.pids[server])
        if megabytes is None:
            self.memory.lift(server, processes)
        else:
            self.memory.limit(server, megabytes, processes)

    def obey(self, server: str, before: Gate, gate: Gate) -> None:
        """See Ground."""
        if server not in self.pids or not self.alive(server):
            return
        members = sweep.inhabitants(self.pids[server])
        if gate is Gate.HUNG:
            sweep.send(members, signal.SIGSTOP)
            return
        if before is Gate.HUNG:
            # nsenter stops itself with its child, and then neither wakes nor reaps it
            sweep.send(members | sweep.holders(members), signal.SIGCONT)
        if gate is Gate.OFF:
            return
        if self.spec.ssh is Ssh.OPENSSH:
            self.run(server, "sh", "-ec", sshd.STOP if gate is Gate.DEAD else sshd.START)
            if gate is Gate.OPEN:
                self._wait_sshd(server)

    def alive(self, server: str) -> bool:
        """Tell whether the server is on."""
        return sweep.find(self.pids[server]) is not None

    def run(self, server: str, *argv: str) -> str:
        """Enter all of the server's namespaces for one program; returns its output. Raises LabError when it fails."""
        words = self.memory.words(server, (*enter(self.pids[server]), *argv))
        return entering.told(words, f"{server}: {' '.join(argv).strip()[:200]}")

    def root(self, server: str) -> Path:
        """The server's files as its pid 1 sees them; never resolved, or it would be the lab's own root."""
        return Path("/proc") / str(self.pids[server]) / "root"

    def _wait_sshd(self, server: str) -> None:
        """The daemon detaches before it listens."""
        address = self.wiring.machine(server).address
        limit = time.monotonic() + _SSHD_TIMEOUT_S
        while True:
            with suppress(OSError), socket.create_connection((address, SSH_PORT), 1) as link:
                if link.recv(4) == b"SSH-":
                    return
            if time.monotonic() > limit:
                log = (self.root(server) / "var/log/sshd.log").read_text(errors="replace").strip()[-300:]
                raise LabError(f"{server}: sshd does not answer: {log or 'no word from it'}")
            time.sleep(_LOOK_S)
