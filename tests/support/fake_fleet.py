"""Servers that are folders: the product's scripts run by this machine's /bin/sh, each server with its own HOME."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Server, Topology
from rankready.model.errors import Unreachable
from rankready.runs.fleet import Fleet
from rankready.runs.site import Site
from rankready.transports.local import LocalChannel, LocalSession

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from rankready.kind.transport import RawReply
    from rankready.model.text import Text


class FolderSession(LocalSession):
    """One server; remembers what was asked of it and how many bytes were pushed to it."""

    def __init__(self, env: dict[str, str], name: str) -> None:
        super().__init__(env)
        self.name = name
        self.scripts: list[bytes] = []
        self.pushed = 0
        self.break_after: int | None = None
        self.before_run: Callable[[], None] | None = None

    async def run(
        self, script: bytes, *, timeout_s: float, limit: int = 16 << 20, quiet_s: float | None = None
    ) -> RawReply:
        self.scripts.append(script)
        if self.before_run is not None:
            self.before_run()
        return await super().run(script, timeout_s=timeout_s, limit=limit)

    async def open(self, command: str) -> LocalChannel:
        inner = await super().open(command)
        return CountingChannel(inner, self)


class CountingChannel(LocalChannel):
    """A channel that can be cut after some bytes, as a lost connection is."""

    def __init__(self, inner: LocalChannel, session: FolderSession) -> None:
        super().__init__(inner._process)
        self._session = session
        self._cut = False

    async def write(self, data: bytes) -> None:
        limit = self._session.break_after
        if limit is not None and self._session.pushed + len(data) > limit:
            await super().write(data[: max(0, limit - self._session.pushed)])
            self._cut = True
            await super().close()
            raise Unreachable(f"{self._session.name}: connection lost")
        self._session.pushed += len(data)
        await super().write(data)

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in super().chunks():
            if not self._cut:
                yield chunk

    async def wait(self) -> int | None:
        status = await super().wait()
        return None if self._cut else status


class FolderTransport:
    """Connects to folders below ``root``; names in ``dead`` refuse."""

    name = "folders"

    def __init__(self, root: Path, *, dead: tuple[str, ...] = (), env: dict[str, str] | None = None) -> None:
        self.root = root
        self.dead = dead
        self.env = env or {}
        self.sessions: dict[str, FolderSession] = {}

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> FolderSession:
        if server.name in self.dead:
            raise Unreachable(f"{server.name}: connection refused")
        return self.session(server.name)

    def session(self, name: str) -> FolderSession:
        if name not in self.sessions:
            home = self.root / name
            home.mkdir(parents=True, exist_ok=True)
            env = {"PATH": os.environ["PATH"], "HOME": str(home), **self.env}
            self.sessions[name] = FolderSession(env, name)
        return self.sessions[name]

    async def close(self) -> None:
        """Nothing is shared."""


def folder_cluster(servers: int = 2) -> Cluster:
    """A cluster of that many servers, server1, server2, …"""
    return Cluster(
        name="lab",
        generation=Generation.A1,
        topology=Topology.SWITCH,
        servers=tuple(Server(name=f"server{i}", login=Login(host=f"server{i}")) for i in range(1, servers + 1)),
        parameter_plane=ParameterPlane(),
    )


def folder_site(
    root: Path, servers: int = 2, *, dead: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> tuple[Site, FolderTransport, list[Text]]:
    """A site of folders below ``root``/servers, its transport, and what it says."""
    said: list[Text] = []
    transport = FolderTransport(root / "servers", dead=dead, env=env)
    cluster = folder_cluster(servers)
    site = Site(cluster=cluster, fleet=Fleet(cluster, transport), home=root / ".rankready", say=said.append)
    return site, transport, said
