"""The lab out of namespaces: built in one synchronous go before any thread or event loop exists."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab import calls, fabric, run_folder, server
from rankready.lab.entering import enter
from rankready.lab.firewall import STAND_INS
from rankready.lab.front import Start
from rankready.lab.lives import Lives
from rankready.lab.lldpd import Daemons
from rankready.lab.login import login_environment, shell_words
from rankready.lab.memory import Memory
from rankready.lab.relay import SSH_PORT
from rankready.lab.speaker import Speaker
from rankready.lab.spec import Door, Lldp, Ssh
from rankready.lab.wiring import LEAF, LEAF_ADDRESS, wire
from rankready.lab.world_netns import NetnsWorld
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.lab.gate import Gate
    from rankready.lab.spec import LabSpec
    from rankready.lab.ssh_keys import Keys
    from rankready.lab.wiring import Machine, Wiring
    from rankready.lab.world import World

_BOOTS_AT_ONCE = 4


@dataclass(slots=True, kw_only=True)
class NetnsGround:
    """See Ground."""

    spec: LabSpec
    wiring: Wiring
    lives: Lives
    speaker: Speaker | None
    inner_listeners: Mapping[str, socket.socket]

    def start(self, server: str, command: str | None, *, terminal: bool) -> Start:
        """Enter the server's namespaces; its own shell goes home and runs the command."""
        words = (*enter(self.lives.pids[server]), *shell_words(command, terminal=terminal))
        return Start(argv=self.lives.memory.words(server, words), env=login_environment())

    def boot(self, keys: Keys) -> None:
        """Boot all servers, a few at a time: a real firewall takes half a second for each."""
        self.lives.keys = keys
        if self.lives.daemons is not None:
            self.lives.daemons.start_leaf()
        with ThreadPoolExecutor(_BOOTS_AT_ONCE) as pool:
            list(pool.map(self.lives.boot, self.spec.names))

    def obey(self, server: str, before: Gate, gate: Gate) -> None:
        """Freeze, thaw, end or start the server's own processes."""
        self.lives.obey(server, before, gate)

    def world(self, gatekeeper: Callable[[str, Gate], None]) -> World:
        """Make what faults act on."""
        voice = self.speaker or self.lives.daemons
        assert voice is not None  # noqa: S101  (this ground always has one or the other)
        return NetnsWorld(spec=self.spec, wiring=self.wiring, lives=self.lives, gatekeeper=gatekeeper, voice=voice)


def build(spec: LabSpec, lab: str) -> NetnsGround:
    """Build fabric, servers, listeners inside them, and whoever speaks LLDP. Raises LabError, OSError."""
    wiring = wire(spec)
    keep = server.keep_paths()
    calls.mount("rankready", "/run", "tmpfs", calls.MS_NOSUID, data="mode=755")
    fabric.build(wiring)
    hosts = hosts_text(wiring)
    overlay = spec.door is Door.ROOT and _overlay_works()
    if spec.real_parts and not overlay:
        parts = ", ".join(spec.real_parts)
        raise LabError(
            f"{parts}: this machine's root can't be the lower layer of an overlay",
            zh=f"{parts}：本机根文件系统不能作为 overlay 的下层",
        )
    bodies = [
        server.Body(machine=m, devices=spec.devices, overlay=overlay, hosts=hosts, keep=keep) for m in wiring.machines
    ]
    daemons = Daemons(wiring=wiring, pids={}) if spec.lldp is Lldp.LLDPD else None
    _prepare(bodies, wiring, daemons)
    pids = server.give_birth(bodies)
    if daemons is not None:
        daemons.pids = pids
    own_sshd = spec.ssh is Ssh.OPENSSH
    return NetnsGround(
        spec=spec,
        wiring=wiring,
        lives=Lives(
            spec=spec,
            wiring=wiring,
            overlay=overlay,
            pids=pids,
            daemons=daemons,
            memory=Memory(lab=lab, state=server.STATE),
        ),
        speaker=None if daemons else Speaker(wiring),
        inner_listeners={} if own_sshd else {m.name: _listener(m) for m in wiring.machines},
    )


def hosts_text(wiring: Wiring) -> str:
    """Every server's name and the leaf's, as each server's hosts file gives them."""
    lines = ["127.0.0.1 localhost", f"{LEAF_ADDRESS} {LEAF}", *(f"{m.address} {m.name}" for m in wiring.machines)]
    return "\n".join(lines) + "\n"


def _prepare(bodies: list[server.Body], wiring: Wiring, daemons: Daemons | None) -> None:
    """Folders of the lab's own for each server; the disk is mounted here, so that it outlives the server's life."""
    spec = wiring.spec
    hidden = STAND_INS if spec.real_firewall else frozenset()
    tools = {t.name: t.read_bytes() for t in run_folder.tool_files() if t.name not in hidden}
    profile = {
        "LAB_BACKEND": "netns",
        "LAB_ROOT": "",
        "LAB_FIREWALL": str(spec.firewall),
        "LAB_LLDP": str(spec.lldp),
    }
    for body in bodies:
        body.home.mkdir(parents=True)
        (body.home / "root").mkdir()
        if body.overlay:
            (body.home / "disk").mkdir()
            calls.mount("disk", str(body.home / "disk"), "tmpfs", calls.MS_NOSUID, data="size=256m,mode=755")
        body.root_home.mkdir(mode=0o700)
        run_folder.furnish(body.run, body.machine, wiring, profile)
        run_folder.place_tools(body.run / "bin", tools)
        if daemons is not None:
            daemons.furnish(body.machine, body.run)


def _overlay_works() -> bool:
    """Some containers' roots can't be the lower layer of another overlay: then servers get the read-only root."""
    trial = server.STATE / "trial"
    for name in ("upper", "work", "root"):
        (trial / name).mkdir(parents=True)
    try:
        options = f"lowerdir=/,upperdir={trial}/upper,workdir={trial}/work"
        calls.mount("overlay", f"{trial}/root", "overlay", data=options)
        calls.unmount(f"{trial}/root")
    except LabError:
        return False
    return True


def _listener(machine: Machine) -> socket.socket:
    """Port 22 on the server's own management address."""
    with calls.inside(Path(fabric.NETNS, machine.netns)):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((machine.address, SSH_PORT))
    return listener
