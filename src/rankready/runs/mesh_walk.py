"""Walks every server through its own list of probes; what can't be asked costs its own verdicts and nobody else's."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import chain, islice
from statistics import median
from typing import TYPE_CHECKING

from rankready.mesh.probe import ProbeResult
from rankready.model.errors import Unreachable
from rankready.model.observed.device import DeviceAddress, DeviceHeld, Link, LinkState
from rankready.model.snapshot import Gap, GapKind
from rankready.model.text import Text
from rankready.runs.script import stream
from rankready.tools.hccn_tool import read_ping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rankready.kind.transport import Session
    from rankready.mesh.direction import Trial
    from rankready.mesh.ledger import Ledger
    from rankready.mesh.probe import Probe
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen
    from rankready.runs.mesh_log import Log
    from rankready.runs.mesh_pace import Pace
    from rankready.runs.site import Site

CHUNK, MOST_CHUNK = 16, 128  # calls per script: often enough to stop in time, seldom enough to cost nothing
CHUNK_S = 20.0  # what a script of more than the fewest calls is to take
STRIKES = 2  # calls of one device that never ended, before its others are given up
LONGEST_S = 600.0
AT_ONCE = 4096  # servers: nearly all of them only wait for a device
TIMED = 50  # calls of each server whose time is remembered

TIME_IS_UP = Gap("the time limit was reached before", zh="此前已到时限")
ENOUGH = Gap("the limit of probes was reached before", zh="此前已达探测次数上限")
HELD = Text(
    en="a job holds it, and it is left in peace (--allow-busy probes it all the same)",
    zh="被作业占用，不打扰它（--allow-busy 仍会探测）",
)

Asked = tuple[int, "Probe"]
"""A call with its place in the list that it came in."""


@dataclass(slots=True)
class Walked:
    """One server's way through its list. ``heard``: results by their place in the list, where they are wanted."""

    pace: Pace
    strikes: dict[Place, int] = field(default_factory=dict)
    took_s: deque[float] = field(default_factory=lambda: deque(maxlen=TIMED))
    made: int = 0
    queue: Iterator[Asked] = field(default_factory=lambda: iter(()))
    again: deque[Asked] = field(default_factory=deque)
    busy: set[Asked] = field(default_factory=set)
    heard: dict[int, ProbeResult] | None = None
    allowed: float = float("inf")
    stalled: str = ""
    stalled_zh: str = ""


class Walk:
    """Sends each server its calls in chunks, and enters what came of them.

    Nothing on a device is changed: a ping names its own target, so the netdetect addresses stay as they stand and there
    is nothing to put back.
    """

    def __init__(self, site: Site, seen: Seen, log: Log, pace: Callable[[Server], Pace]) -> None:
        """Know what the audit decided: devices that are down or have no address are not called."""
        self._site, self._seen, self._log = site, seen, log
        self.ledger: Ledger = log.ledger
        self.until: float | None = None
        self.left: float = float("inf")  # calls that may still be made
        self.allow_busy = False  # call devices that a job holds
        self.of: dict[str, Walked] = {s.name: Walked(pace(s)) for s in site.cluster.servers}
        self.lost: dict[str, str] = {}
        self.trials: list[Trial] = []  # of suspects, with their counters watched
        self._audit: dict[Place, bool] = {}
        self._servers = {s.name: s for s in site.cluster.servers}

    async def make(self, calls: Mapping[str, Iterable[Probe]]) -> None:
        """Make those planned calls that have no answer yet, servers side by side.

        A server whose connection breaks is tried again while it gets on, with the pauses of the fleet.
        """
        await self._make({name: self._open(name, mine) for name, mine in calls.items()})

    async def make_beyond(self, calls: Mapping[str, Iterable[Probe]]) -> dict[str, dict[int, ProbeResult]]:
        """Make calls beside the plan, one as often as it is listed; return results by their place in the list."""
        for name in calls:
            self.of[name].heard = {}
        await self._make({name: self._able(name, enumerate(mine)) for name, mine in calls.items()})
        return {name: self._heard(name) for name in calls}

    def _heard(self, name: str) -> dict[int, ProbeResult]:
        found, self.of[name].heard = self.of[name].heard, None
        return found or {}

    async def _make(self, calls: Mapping[str, Iterator[Asked]]) -> None:
        todo = {name: chain((first,), mine) for name, mine in calls.items() if (first := next(mine, None)) is not None}
        before = {name: self.of[name].made for name in todo}
        for rank, (name, mine) in enumerate(todo.items()):
            self.of[name].queue, self.of[name].allowed = mine, self._share(rank, len(todo))

        lost = await self._walked(todo)
        for pause_s in self._site.fleet.retry.pauses_s:
            able = [name for name in lost if self.of[name].made > before[name] and not self._over()]
            if not able:
                break
            await asyncio.sleep(pause_s)
            before.update((name, self.of[name].made) for name in able)
            for name in able:
                self._site.fleet.forgive(name)
                del lost[name]
            lost.update(await self._walked(able))
        for name, gap in lost.items():
            self.lost[name] = gap.reason
            self._give_up(name, gap)

    async def _walked(self, names: Iterable[str]) -> dict[str, Gap]:
        """Walk these servers through their lists; return those that were lost, and why."""

        async def one(server: Server, session: Session) -> None:
            await self._server(server.name, session)

        answers = await self._site.fleet.each(one, [self._servers[n] for n in names], at_once=AT_ONCE)
        return {name: answer for name, answer in answers.items() if isinstance(answer, Gap)}

    def _over(self) -> bool:
        return self.until is not None and time.monotonic() >= self.until

    def _share(self, rank: int, servers: int) -> float:
        """Keep to the limit of probes: every server the same number, the first ones of its list."""
        if math.isinf(self.left):
            return self.left
        return self.left // servers or float(rank < self.left)

    def _open(self, name: str, calls: Iterable[Probe]) -> Iterator[Asked]:
        known, in_vain = self.ledger.known, self.ledger.in_vain
        open_ = (p for p in calls if not known(p.source, p.target) and not in_vain(p.source, p.target))
        return self._able(name, ((0, p) for p in open_))

    def _able(self, name: str, calls: Iterable[Asked]) -> Iterator[Asked]:
        """Leave out the calls that the audit decides, and those of devices that ceased to answer."""
        strikes = self.of[name].strikes
        for asked in calls:
            probe = asked[1]
            if strikes.get(probe.source, 0) >= STRIKES:
                self.ledger.give_up(probe.source, _endless(probe.source))
            elif not any(self._decided(end) for end in (probe.source, probe.target)):
                yield asked

    def _decided(self, end: Place) -> bool:
        """Tell whether the audit keeps a device from being called, and from calling."""
        if end not in self._audit:
            reason = self._reason(end)
            self._audit[end] = reason is not None
            if reason is not None:
                self.ledger.give_up(end, Gap(f"{end}: {reason.en}", zh=f"{end}：{reason.zh}"))
        return self._audit[end]

    def _reason(self, end: Place) -> Text | None:
        link, held = self._seen.at(end, Link), self._seen.at(end, DeviceHeld)
        if link is not None and link.state is LinkState.DOWN:
            return Text(en="link is down", zh="链路断开")
        if self._seen.unset(end, DeviceAddress):
            return Text(en="no address is set", zh="未设置地址")
        if held is not None and held.held and not self.allow_busy:
            return HELD
        return None

    async def _server(self, name: str, session: Session) -> None:
        walked = self.of[name]
        while part := self._part(walked):
            if self._over():
                self._give_up(name, TIME_IS_UP)
            elif walked.stalled:
                self._give_up(name, Gap(walked.stalled, zh=walked.stalled_zh))
            elif walked.allowed < 1:
                self._give_up(name, ENOUGH)
            else:
                part = self._allowed(walked, part)
                await self._chunk(name, session, part)
                walked.pace.climb()

    def _part(self, walked: Walked) -> list[Asked]:
        """Return the next calls of a list; at its end, once more, those that found the tool busy."""
        part = list(islice(walked.queue, _chunk(walked)))
        while not part and walked.again:
            part = [walked.again.popleft() for _ in range(min(CHUNK, len(walked.again)))]
        return part

    def _allowed(self, walked: Walked, part: list[Asked]) -> list[Asked]:
        if walked.allowed < len(part):
            most = int(walked.allowed)
            walked.queue, part = chain(part[most:], walked.queue), part[:most]
        walked.allowed -= len(part)
        self.left -= len(part)
        return part

    async def _chunk(self, name: str, session: Session, asked: list[Asked]) -> None:
        walked, waiting = self.of[name], dict(enumerate(asked))
        commands = walked.pace.commands([p for _, p in asked])
        within = LONGEST_S if self.until is None else max(1.0, self.until - time.monotonic())
        try:
            async with aclosing(stream(session, commands, lanes=walked.pace.lanes, within_s=within)) as replies:
                async for index, reply in replies:
                    if (call := waiting.pop(index, None)) is not None:
                        self._take(name, call, reply)
        except Unreachable:
            walked.queue = chain(waiting.values(), walked.queue)  # for when it can be reached again
            raise
        if waiting:
            walked.stalled = f"{name} fell silent while it was probing"
            walked.stalled_zh = f"{name} 在探测中不再应答"
            self._give_up(name, Gap(walked.stalled, zh=walked.stalled_zh))
        self._log.sync()

    def _take(self, name: str, call: Asked, reply: Reply) -> None:
        walked, (at, probe) = self.of[name], call
        answer = read_ping(reply)
        walked.pace.learn(reply, answer)
        if not isinstance(answer, Gap):
            result = ProbeResult(probe=probe, sent=answer.sent, received=answer.received)
            walked.took_s.append(reply.duration_s)
            walked.made += 1
        elif answer.kind is GapKind.BUSY and call not in walked.busy:
            walked.busy.add(call)  # once more, at the end of the list
            walked.again.append(call)
            return
        else:
            result = ProbeResult(probe=probe, gap=self._why(probe, reply, answer))
            walked.strikes[probe.source] = walked.strikes.get(probe.source, 0) + (reply.exit is None)
        self._log.add(result)
        if walked.heard is not None:
            walked.heard[at] = result

    def _why(self, probe: Probe, reply: Reply, answer: Gap) -> Gap:
        if reply.tries > 0:
            return answer
        if self.until is not None and time.monotonic() >= self.until - 1:
            return TIME_IS_UP
        return _endless(probe.source)

    def _give_up(self, name: str, gap: Gap) -> None:
        """Make no more calls of a list: for what was planned, the reason is kept once for its server."""
        walked = self.of[name]
        walked.queue, walked.again = iter(()), deque()
        self.ledger.give_up(self._servers[name].place, gap)


def _chunk(walked: Walked) -> int:
    """Return how many calls the next script makes; opening one costs the client more than a quick call does."""
    if walked.made < 3 * CHUNK:
        return CHUNK
    return max(CHUNK, min(MOST_CHUNK, int(CHUNK_S / max(median(walked.took_s), 0.01))))


def _endless(device: Place) -> Gap:
    return Gap(f"{device}: its calls do not end", zh=f"{device}：它的调用没有结束")
