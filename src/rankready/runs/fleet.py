"""All servers of a cluster through one transport: connect once, work in parallel, lose nobody else's answer."""

from __future__ import annotations

import asyncio
import contextlib
import random
import resource
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from rankready.model.errors import Unanswered, Unreachable
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from rankready.kind.transport import Session, Transport
    from rankready.model.cluster import Cluster, Server

T = TypeVar("T")

CONNECT_WINDOW = 256  # sockets on their way; the transport holds handshakes to fewer (facts/transport 5.4)
WORK_WINDOW = 512  # scripts in flight: what bounds memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often a server that did not answer is tried again; later tries wait at the end of the queue.

    A server that was silent for longer than ``within_s`` costs its time once.
    """

    pauses_s: tuple[float, ...] = (1.0, 4.0)
    within_s: float = 8.0


class Fleet:
    """Held connections to the servers of one cluster."""

    def __init__(self, cluster: Cluster, transport: Transport, *, retry: Retry = Retry()) -> None:
        """Connect to nobody yet."""
        self.retry = retry
        self.cluster = cluster
        self.transport = transport
        self._sessions: dict[str, Session] = {}
        self._refused: dict[str, Unreachable] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._connecting = asyncio.Semaphore(CONNECT_WINDOW)
        self._working = asyncio.Semaphore(WORK_WINDOW)
        _allow_files(len(cluster.servers))

    @property
    def lost(self) -> Mapping[str, Unreachable]:
        """Servers that could not be reached, or were lost, and why."""
        return self._refused

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
                opened = await self._connected(server)
            except Unreachable as refused:
                self._refused[server.name] = refused
                raise
            self._sessions[server.name] = opened
            return opened

    def forgive(self, name: str) -> None:
        """Let a server that was lost be tried anew."""
        self._refused.pop(name, None)

    async def _connected(self, server: Server) -> Session:
        """Connect; who did not answer is tried twice more, who refused (a login, a host key) never."""
        clock = asyncio.get_running_loop().time
        give_up = clock() + self.retry.within_s
        for pause in self.retry.pauses_s:
            try:
                async with self._connecting:
                    return await self.transport.connect(server)
            except Unanswered:
                if clock() > give_up:
                    raise
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311  (jitter)
        async with self._connecting:
            return await self.transport.connect(server)

    async def _drop(self, server: Server) -> None:
        self._refused.pop(server.name, None)
        if (held := self._sessions.pop(server.name, None)) is not None:
            await held.close()

    async def each(
        self,
        work: Callable[[Server, Session], Awaitable[T]],
        servers: Iterable[Server] | None = None,
        *,
        at_once: int = 0,
    ) -> dict[str, T | Gap]:
        """Do ``work`` on every server in parallel; a server that can't be reached gets a Gap. Cluster order.

        ``at_once``: servers that work side by side, for work that mostly waits; 0: as many as memory allows for
        scripts with long answers.
        """
        chosen = tuple(self.cluster.servers if servers is None else servers)
        window = asyncio.Semaphore(at_once) if at_once else self._working
        done = await asyncio.gather(*(self._one(work, server, window) for server in chosen))
        return dict(zip((s.name for s in chosen), done, strict=True))

    async def _one(
        self, work: Callable[[Server, Session], Awaitable[T]], server: Server, window: asyncio.Semaphore
    ) -> T | Gap:
        async with window:
            try:
                return await work(server, await self.session(server))
            except Unreachable as lost:
                await self._drop(server)
                self._refused[server.name] = lost
                return Gap(str(lost))

    async def close(self) -> None:
        """Leave every server, then close what the transport shares."""
        sessions, self._sessions = tuple(self._sessions.values()), {}
        await asyncio.gather(*(s.close() for s in sessions))
        await self.transport.close()


def _allow_files(servers: int) -> None:
    """Raise the soft limit of open files to the hard one where a cluster may need it: one descriptor a connection."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= 2 * servers + 128:
        return
    with contextlib.suppress(ValueError, OSError):  # macOS reports a hard limit that it does not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
