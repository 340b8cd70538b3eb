"""Servers that are network namespaces on one bridge, each with its own /etc and /run: real ufw, firewalld and nft."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fake_fleet import folder_cluster

from rankready.model.errors import Unreachable
from rankready.runs.fleet import Fleet
from rankready.runs.site import Site
from rankready.transports.local import LocalSession

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Server
    from rankready.model.text import Text

# $1: a folder on a tmpfs of this mount namespace. Own /etc by overlay, own /run; then wait until stdin ends.
_HOLD = r"""
set -e
mount --make-rprivate /
mount -t tmpfs none "$1"; mkdir "$1/u" "$1/w"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/u,workdir=$1/w" /etc
mount -t tmpfs none /run
ip link set lo up
echo ready
cat >/dev/null
"""


def can_have_namespaces() -> bool:
    """Whether this process may make network and mount namespaces with an overlay in them."""
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        return False
    return subprocess.run(["unshare", "-n", "-m", "true"], check=False, capture_output=True).returncode == 0


needs_namespaces = pytest.mark.skipif(not can_have_namespaces(), reason="needs root and network namespaces")


class NamespaceSession(LocalSession):
    """Runs scripts inside one server's namespaces."""

    def __init__(self, pid: int) -> None:
        super().__init__({"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "HOME": "/root"})
        self.pid = pid

    async def _start(self, command: str, *, stderr: int) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *("nsenter", "-t", str(self.pid), "-n", "-m", "-p", "/bin/sh", "-c", command),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
            env=self._env,
            start_new_session=True,
        )


class Namespaces:
    """A few servers on one bridge, and the transport to them."""

    name = "namespaces"

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.cluster = folder_cluster(count)
        self.cluster = replace(
            self.cluster,
            servers=tuple(
                replace(s, address=IPv4Address("172.31.9.0") + i) for i, s in enumerate(self.cluster.servers, 1)
            ),
        )
        self.bridge = self._hold("bridge")
        self.held = {s.name: self._hold(s.name) for s in self.cluster.servers}
        self._wire()

    def _hold(self, name: str) -> subprocess.Popen[bytes]:
        place = self.folder / name
        place.mkdir(parents=True)
        held = subprocess.Popen(
            [
                "unshare",
                "-n",
                "-m",
                "-p",
                "--fork",
                "--kill-child",
                "--mount-proc",
                "sh",
                "-c",
                _HOLD,
                "sh",
                str(place),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert held.stdout is not None
        assert held.stdout.readline() == b"ready\n"
        return held

    def pid(self, name: str) -> int:
        """The first process inside a server's namespaces."""
        held = self.bridge if name == "bridge" else self.held[name]
        return self.pid_of(held)

    def run(self, name: str, *argv: str) -> str:
        """Run a program on a server and return what it printed; raises when it fails."""
        where = ["nsenter", "-t", str(self.pid(name)), "-n", "-m", "-p"]
        return subprocess.run([*where, *argv], check=True, capture_output=True, text=True).stdout

    def _wire(self) -> None:
        self.run("bridge", "ip", "link", "add", "br0", "type", "bridge")
        self.run("bridge", "ip", "link", "set", "br0", "up")
        for server in self.cluster.servers:
            port = f"p{server.name[-1]}"
            peer = str(self.pid(server.name))
            self.run("bridge", "ip", "link", "add", port, "type", "veth", "peer", "name", "mgmt0")
            self.run("bridge", "ip", "link", "set", port, "master", "br0", "up")
            # the pid as this machine counts it: asked from outside the pid namespace
            outside = ["nsenter", "-t", str(self.pid("bridge")), "-n", "ip", "link", "set", "mgmt0", "netns", peer]
            subprocess.run(outside, check=True)
            self.run(server.name, "ip", "addr", "add", f"{server.address}/24", "dev", "mgmt0")
            self.run(server.name, "ip", "link", "set", "mgmt0", "up")

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> NamespaceSession:
        if server.name not in self.held:
            raise Unreachable(f"{server.name}: no route to host")
        return NamespaceSession(self.pid(server.name))

    def lose(self, name: str) -> None:
        """Take a server away, as a power cut does."""
        self._end(self.held.pop(name))

    async def close(self) -> None:
        """Nothing is shared."""

    def site(self, home: Path) -> tuple[Site, list[Text]]:
        """A site of these servers and what it says."""
        said: list[Text] = []
        return Site(cluster=self.cluster, fleet=Fleet(self.cluster, self), home=home, say=said.append), said

    def end(self) -> None:
        """Let every first process go; its namespaces and all in them go with it."""
        for held in (*self.held.values(), self.bridge):
            self._end(held)

    def _end(self, held: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError, IndexError):
            os.kill(self.pid_of(held), 9)
        held.kill()
        held.communicate()

    @staticmethod
    def pid_of(held: subprocess.Popen[bytes]) -> int:
        """The child that is process 1 inside."""
        return int(Path(f"/proc/{held.pid}/task/{held.pid}/children").read_text().split()[0])


@contextlib.contextmanager
def namespaces(folder: Path, count: int) -> Iterator[Namespaces]:
    """Servers for the length of a block."""
    made = Namespaces(folder, count)
    try:
        yield made
    finally:
        made.end()
