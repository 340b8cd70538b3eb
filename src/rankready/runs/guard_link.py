"""The controller's end of one guard: start it, watch it, beat for it, come back after a lost connection."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankready.model.errors import Unreachable, Unreadable
from rankready.model.job import (
    Begun,
    Exited,
    Lost,
    Over,
    RankEnd,
    Reached,
    Ready,
    Regained,
    Started,
    StartFailed,
    Stopping,
)
from rankready.runs.guard_file import frame, read_answer, start_script, watch_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.kind.transport import Channel
    from rankready.model.cluster import Server
    from rankready.model.job import Event
    from rankready.runs.fleet import Fleet
    from rankready.runs.guard_file import GuardTimes

START_S = 60.0
RETRY_S = 1.0
CLOSE_S = 1.0
LINE_LIMIT = 1 << 20  # bytes without a line end: no guard of ours talks like that

_EPOCH = time.time() - time.monotonic()


def clock() -> float:
    """Return seconds since the epoch on a clock that nobody can set: what a job's times are corrected to."""
    return _EPOCH + time.monotonic()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ears:
    """Who hears of a guard: ``tell`` takes events, ``output`` pieces of logs."""

    tell: Callable[[Event], None]
    output: Callable[[Piece], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some bytes of a log, and where they stand in it. ``skipped``: how many before them are not held any more."""

    server: str
    log: str
    rank: int | None
    at: int
    data: bytes
    skipped: int = 0


class GuardLink:
    """One server's guard, from here."""

    def __init__(self, fleet: Fleet, server: Server, job: str, ears: Ears) -> None:
        """Do nothing yet."""
        self.fleet, self.server, self.job = fleet, server, job
        self.name = server.name
        self.tell, self.output = ears.tell, ears.output
        self.offsets: dict[str, int] = {}
        self.ended = False
        self.cause = ""
        self.linked: bool | None = None  # whether its guard reaches node 0's; None: not told
        self.trouble = ""
        self.logout_kills = False  # whether its server ends a user's processes with the last login
        self.held: frozenset[int] = frozenset()  # ranks with a connection to the master port, as last told
        self._reached: dict[int, float] = {}
        self.clock_offset_s: float | None = None
        self.pids: dict[int, int] = {}
        self._started: dict[int, float] = {}  # on the server's clock: the offset is known better later
        self._skipped: dict[str, int] = {}
        self._round_trip = float("inf")
        self._nonce = ""
        self._channel: Channel | None = None
        self._orders: list[bytes] = []
        self._beat_sent = self._answered = time.monotonic()
        self._left = 0
        self._lost = False
        self._ready = asyncio.Event()

    @property
    def starts(self) -> dict[int, float]:
        """When each process started, by local rank, on our clock."""
        return {local: self._ours(at) for local, at in self._started.items()}

    @property
    def reached(self) -> dict[int, float]:
        """When each rank was first seen with a connection to the master port, on our clock."""
        return {rank: self._ours(at) for rank, at in self._reached.items()}

    async def start(self, spec: Mapping[str, Any]) -> bool:
        """Bring the guard there and start this server's processes; tells Ready or StartFailed."""
        nonce = f"rr{secrets.token_hex(8)}"
        try:
            session = await self.fleet.session(self.server)
            raw = await session.run(start_script(self.job, spec, nonce), timeout_s=START_S)
            answer = read_answer(raw.stdout, nonce)
        except (Unreachable, Unreadable) as error:
            self.tell(StartFailed(server=self.name, reason=str(error)))
            return False
        if answer.get("event") != "ready":
            self.tell(StartFailed(server=self.name, reason=str(answer.get("reason", answer))))
            return False
        self.logout_kills = bool(answer.get("logout_kills"))
        self.tell(Ready(server=self.name))
        return True

    async def follow(self, times: GuardTimes, *, beats: bool = True) -> None:
        """Watch until the job is over on this server; tells what happens there, and Lost and Regained in between."""
        while True:
            with contextlib.suppress(Unreachable):
                session = await self.fleet.session(self.server, again=self._lost)
                self._nonce = f"rr{secrets.token_hex(8)}"
                self._ready.clear()
                self._channel = await session.open(watch_command(self.job, self._nonce, self.offsets))
                self._answered = time.monotonic()
                await self._watch(self._channel, times, beats=beats)
            self._channel = None
            if self.ended:
                return
            if not self._lost:
                self._lost = True
                self.tell(Lost(server=self.name))
            await asyncio.sleep(RETRY_S)

    async def order(self, words: str) -> None:
        """Send an order; kept for the next connection where there is none now."""
        line = f"{words}\n".encode()
        if self._channel is None:
            self._orders = [line]
            return
        with contextlib.suppress(Unreachable):
            await self._channel.write(line)

    async def _watch(self, channel: Channel, times: GuardTimes, *, beats: bool) -> None:
        reader = asyncio.create_task(self._read(channel))
        beater = asyncio.create_task(self._beat(channel, times, beats=beats))
        try:
            await asyncio.wait({reader, beater}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reader, beater):
                task.cancel()
            await asyncio.gather(reader, beater, return_exceptions=True)
            await channel.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(channel.wait(), CLOSE_S)

    async def _beat(self, channel: Channel, times: GuardTimes, *, beats: bool) -> None:
        """Beat every quarter of the lease; return when the guard's answers stay out for half of it."""
        lease_s = times.start_s or times.lease_s
        every = min(lease_s / 4, 5.0) if lease_s else 5.0
        silence = min(max(lease_s / 2, 5.0), 30.0) if lease_s else 30.0
        # a beat sent before the watch runs would measure Python's start as distance between the clocks
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ready.wait(), every)
        while beats:
            self._beat_sent = time.monotonic()
            try:
                await asyncio.wait_for(channel.write(b".\n"), every)
            except (Unreachable, TimeoutError):
                return
            await asyncio.sleep(every)
            if time.monotonic() - self._answered > silence:
                return
        await asyncio.Event().wait()

    async def _read(self, channel: Channel) -> None:
        rest = b""
        async for chunk in channel.chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                found = frame(line, self._nonce)
                if found is not None:
                    self._answered = time.monotonic()
                    with contextlib.suppress(KeyError, TypeError, ValueError):  # no frame of ours: not believed
                        self._take(found)
            await self._send_orders(channel)
            if self.ended or len(rest) > LINE_LIMIT:
                return

    async def _send_orders(self, channel: Channel) -> None:
        if self._orders:
            orders, self._orders = self._orders, []
            for line in orders:
                await channel.write(line)

    def _take(self, found: dict[str, Any]) -> None:
        match found["event"]:
            case "ready":
                self._measure(float(found["clock"]), exact=False)
                self._ready.set()
                if self._lost:
                    self._lost = False
                    self.tell(Regained(server=self.name))
            case "beat":
                self._measure(float(found["clock"]), exact=self._ready.is_set())
            case "output":
                self._output(found)
            case "started":
                local = int(found["local_rank"])
                self.pids[local] = int(found["pid"])
                self._started[local] = float(found["at"])
                self.tell(Started(server=self.name, local_rank=local))
            case "exited" | "stopping" | "left" | "ended":
                self._take_end(found)
            case _:
                self._take_note(found)

    def _take_note(self, found: dict[str, Any]) -> None:
        match found["event"]:
            case "begun":
                self.tell(Begun(server=self.name))
            case "skipped":
                self._skipped[str(found["stream"])] = int(found["bytes"])
            case "linked":
                self.linked = True
            case "unlinked":
                self.linked, self.trouble = False, str(found["reason"])[:200]
            case "reached":
                self.held = frozenset(int(rank) for rank in found["held"])
                self._reached = {int(rank): float(at) for rank, at in found["first"].items()}
                self.tell(Reached(server=self.name))

    def _take_end(self, found: dict[str, Any]) -> None:
        match found["event"]:
            case "exited":
                self.tell(Exited(end=self._end(found, found["at"])))
            case "stopping":
                self.tell(Stopping(server=self.name, why=str(found["cause"]), at=self._ours(found["at"])))
            case "left":
                self._left = len(found["left"])
            case "ended":
                self._over(found)

    def _over(self, found: dict[str, Any]) -> None:
        self.cause = str(found["cause"])
        for rank in found["ranks"]:
            if rank["ended"] is not None:
                self.tell(Exited(end=self._end(rank, rank["ended"])))
        self.ended = True
        self.tell(Over(server=self.name, left=self._left))

    def _output(self, found: dict[str, Any]) -> None:
        try:
            data = base64.b64decode(found["data"], validate=True)
        except (binascii.Error, ValueError):
            return
        log, at = str(found["stream"]), int(found["offset"])
        self.offsets[log] = at + len(data)
        skipped = self._skipped.pop(log, 0)
        self.output(Piece(server=self.name, log=log, rank=found.get("rank"), at=at, data=data, skipped=skipped))

    def _measure(self, theirs: float, *, exact: bool) -> None:
        """Estimate how far the server's clock is ahead of ours, best from the quickest answered beat."""
        now = time.monotonic()
        trip = now - self._beat_sent if exact else float("inf")
        if self.clock_offset_s is None or trip < self._round_trip:
            self._round_trip = trip
            middle = (self._beat_sent + now) / 2 if exact else now
            self.clock_offset_s = theirs - (_EPOCH + middle)

    def _ours(self, theirs: float) -> float:
        return float(theirs) - (self.clock_offset_s or 0.0)

    def _end(self, found: dict[str, Any], ended: float) -> RankEnd:
        local = int(found["local_rank"])
        return RankEnd(
            server=self.name,
            rank=found["rank"],
            local_rank=local,
            exit=found["exit"],
            signal=found["signal"],
            started=self.starts.get(local),
            ended=self._ours(ended),
            oom=_most(found.get("oom")),
        )


def _most(counts: object) -> int | None:
    """Return the largest of a guard's counts of the kernel's kills; None where its kernel keeps none."""
    known = [n for n in counts.values() if isinstance(n, int)] if isinstance(counts, dict) else []
    return max(known, default=None)
