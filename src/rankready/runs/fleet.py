"""All servers of a cluster through one transport: connect once, work in parallel, lose nobody else's answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from rankready.model.errors import Unreachable
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from rankready.kind.transport import Session, Transport
    from rankready.model.cluster import Cluster, Server

T = TypeVar("T")

CONNECT_WINDOW = 48  # handshakes at a time (facts/transport 5.4)
WORK_WINDOW = 256


class Fleet:
    """Held connections to the servers of one cluster."""

    def __init__(self, cluster: Cluster, transport: Transport) -> None:
        """Connect to nobody yet."""
        self.cluster = cluster
        self.transport = transport
        self._sessions: dict[str, Session] = {}
        self._refused: dict[str, Unreachable] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._connecting = asyncio.Semaphore(CONNECT_WINDOW)
        self._working = asyncio.Semaphore(WORK_WINDOW)

    async def session(self, server: Server, *, again: bool = False) -> Session:
        """Return the held session of a server, connecting on first use; raises Unreachable.

        A server that refused is not tried twice within a run unless ``again``: a dead server costs its time once.
        """
        lock = self._locks.setdefault(server.name, asyncio.Lock())
        async with lock:
            if again:
                await self._drop(server)
            if (held := self._sessions.get(server.name)) is not None:
                return held
            if server.name in self._refused:
                raise self._refused[server.name]
            try:
                async with self._connecting:
                    opened = await self.transport.connect(server)
            except Unreachable as refused:
                self._refused[server.name] = refused
                raise
            self._sessions[server.name] = opened
            return opened

    async def _drop(self, server: Server) -> None:
        self._refused.pop(server.name, None)
        if (held := self._sessions.pop(server.name, None)) is not None:
            await held.close()

    async def each(
        self, work: Callable[[Server, Session], Awaitable[T]], servers: Iterable[Server] | None = None
    ) -> dict[str, T | Gap]:
        """Do ``work`` on every server in parallel; a server that can't be reached gets a Gap. Cluster order."""
        chosen = tuple(self.cluster.servers if servers is None else servers)
        done = await asyncio.gather(*(self._one(work, server) for server in chosen))
        return dict(zip((s.name for s in chosen), done, strict=True))

    async def _one(self, work: Callable[[Server, Session], Awaitable[T]], server: Server) -> T | Gap:
        async with self._working:
            try:
                return await work(server, await self.session(server))
            except Unreachable as lost:
                self._sessions.pop(server.name, None)
                self._refused[server.name] = lost
                return Gap(str(lost))

    async def close(self) -> None:
        """Leave every server, then close what the transport shares."""
        sessions, self._sessions = tuple(self._sessions.values()), {}
        await asyncio.gather(*(s.close() for s in sessions))
        await self.transport.close()
