"""A farm without SSH: sessions that answer the product's scripts in process, and do wrong what a test tells them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from farm_words import Words
from server_farm import calls_of, frame, planned_cluster

from rankready.kind.transport import RawReply
from rankready.model.errors import Unreachable
from rankready.runs.fleet import Fleet, Retry
from rankready.runs.site import Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from server_farm import Call

    from rankready.model.cluster import Server
    from rankready.model.text import Text

Frames = list[tuple["Call", bytes]]


def right(_server: str, nonce: str, frames: Frames) -> bytes:
    """What a healthy server sends."""
    return b"".join(f for _, f in frames) + f"\n{nonce} end\n".encode()


class FarmChannel:
    """One script's channel: all that it says comes as one chunk, or frame by frame."""

    def __init__(self, session: FarmSession) -> None:
        self._session = session
        self._said = b""
        self._error: Exception | None = None

    async def write(self, data: bytes) -> None:
        found = self._session.said(data)
        self._said, self._error = found if isinstance(found, tuple) else (found, None)

    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._said), 100):
            yield self._said[start : start + 100]

    async def wait(self) -> int | None:
        return 0 if self._error is None else None

    async def close(self) -> None:
        """Nothing is held."""


class FarmSession:
    """One server of the farm."""

    def __init__(self, name: str, fleet: FarmFleet) -> None:
        self._name, self._fleet = name, fleet

    def said(self, script: bytes) -> bytes | tuple[bytes, Exception]:
        nonce, _, calls = calls_of(script.decode())
        self._fleet.calls.extend((self._name, c) for c in calls)
        frames = [(c, frame(nonce, c.index, self._fleet.words.answer(self._name, c.argv))) for c in calls]
        found = self._fleet.wrong(self._name, nonce, frames)
        return (b"".join(f for _, f in frames[: len(frames) // 2]), found) if isinstance(found, Exception) else found

    async def run(
        self, script: bytes, *, timeout_s: float, limit: int = 16 << 20, quiet_s: float | None = None
    ) -> RawReply:
        found = self.said(script)
        if isinstance(found, tuple):
            raise found[1]
        return RawReply(stdout=found, stderr=b"", exit=0)

    async def open(self, command: str) -> FarmChannel:
        return FarmChannel(self)

    async def close(self) -> None:
        """Nothing is held."""


@dataclass
class FarmFleet:
    """A transport to the servers of a planned cluster; ``calls`` is what was asked.

    ``wrong`` makes what a server sends: its name, the nonce, its right frames → bytes, or an error to raise.
    """

    words: Words
    wrong: Callable[[str, str, Frames], bytes | Exception] = right
    calls: list[tuple[str, Call]] = field(default_factory=list)
    dead: tuple[str, ...] = ()
    name: str = "farm"

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> FarmSession:
        if server.name in self.dead:
            raise Unreachable(f"{server.name}: Connection refused")
        return FarmSession(server.name, self)

    async def close(self) -> None:
        """Nothing is shared."""

    def site(self, home: Path) -> tuple[Site, list[Text]]:
        """A site over this farm; its addressing is computed anew, as every verb does."""
        said: list[Text] = []
        cluster = replace(self.words.cluster, addressing={})
        return Site(
            cluster=cluster, fleet=Fleet(cluster, self, retry=Retry(pauses_s=(0.0, 0.0))), home=home, say=said.append
        ), said


def farm(servers: int = 3, devices: tuple[int, ...] = (0, 1)) -> FarmFleet:
    """A healthy farm."""
    return FarmFleet(words=Words(planned_cluster(servers, devices)))
