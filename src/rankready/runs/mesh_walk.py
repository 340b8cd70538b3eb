"""Walks every server through its own list of probes; what can't be asked costs its own verdicts and nobody else's."""

from __future__ import annotations

import time
from collections import deque
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.mesh.probe import ProbeResult
from rankready.model.observed.device import DeviceAddress, Link, LinkState
from rankready.model.snapshot import Gap, GapKind
from rankready.runs.script import stream
from rankready.tools.hccn_tool import read_ping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.mesh.probe import Probe
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen
    from rankready.runs.mesh_log import Log
    from rankready.runs.mesh_pace import Pace
    from rankready.runs.site import Site

CHUNK = 16  # calls per script: often enough to stop in time, seldom enough to cost nothing
STRIKES = 2  # calls of one device that never ended, before its others are given up
LONGEST_S = 600.0
AT_ONCE = 4096  # servers: nearly all of them only wait for a device

TIME_IS_UP = Gap("the time limit was reached before")
ENOUGH = Gap("the limit of probes was reached before")

Numbered = tuple[int, "Probe"]
Slots = dict[int, ProbeResult]


@dataclass(slots=True)
class Walked:
    """One server's results by slot (its place in the server's list), and how it went."""

    pace: Pace
    slots: Slots = field(default_factory=dict)
    strikes: dict[Place, int] = field(default_factory=dict)
    took_s: list[float] = field(default_factory=list)
    busy: set[int] = field(default_factory=set)
    queue: deque[Numbered] = field(default_factory=deque)
    stalled: str = ""


class Walk:
    """Sends each server its calls in chunks.

    Nothing on a device is changed: a ping names its own target, so the netdetect addresses stay as they stand and there
    is nothing to put back.
    """

    def __init__(self, site: Site, seen: Seen, log: Log, pace: Callable[[Server], Pace]) -> None:
        """Know what the audit decided: devices that are down or have no address are not called."""
        self._site, self._seen, self._log = site, seen, log
        self.until: float | None = None
        self.left: float = float("inf")  # calls that may still be made
        self.of: dict[str, Walked] = {s.name: Walked(pace(s)) for s in site.cluster.servers}
        self.lost: dict[str, str] = {}
        self._servers = {s.name: s for s in site.cluster.servers}

    def results(self) -> list[ProbeResult]:
        """All results so far: cluster order, then each server's own order."""
        return [walked.slots[slot] for walked in self.of.values() for slot in sorted(walked.slots)]

    async def make(self, calls: Mapping[str, Sequence[Numbered]]) -> None:
        """Make these calls, servers side by side; every call has a result afterwards, if only a gap."""
        todo = {name: self._open(name, mine) for name, mine in calls.items()}
        share = self.left / max(1, sum(map(bool, todo.values())))
        busy = [name for name, mine in todo.items() if mine]
        for name in busy:
            self.of[name].queue = self._allowed(name, todo[name], share)

        async def one(server: Server, session: Session) -> None:
            await self._server(server.name, session)

        answers = await self._site.fleet.each(one, [self._servers[n] for n in busy], at_once=AT_ONCE)
        for name, answer in answers.items():
            if isinstance(answer, Gap):
                self.lost[name] = answer.reason
                self._rest(name, todo[name], answer)

    def _open(self, name: str, calls: Sequence[Numbered]) -> list[Numbered]:
        """Return those calls that have no result yet and that the audit does not decide."""
        walked, todo = self.of[name], []
        for slot, probe in calls:
            if slot in walked.slots:
                continue
            if (reason := self._decided(probe)) is not None:
                walked.slots[slot] = ProbeResult(probe=probe, gap=reason)
            else:
                todo.append((slot, probe))
        return todo

    def _allowed(self, name: str, calls: list[Numbered], share: float) -> deque[Numbered]:
        """Keep to the limit of probes: every server the same number, the first ones of its list."""
        count = len(calls) if share >= len(calls) else int(share) or int(self.left >= 1)
        self.left -= count
        self._rest(name, calls[count:], ENOUGH)
        return deque(calls[:count])

    async def _server(self, name: str, session: Session) -> None:
        walked = self.of[name]
        while queue := walked.queue:
            if self.until is not None and time.monotonic() >= self.until:
                self._rest(name, queue, TIME_IS_UP)
                return
            if walked.stalled:
                self._rest(name, queue, Gap(walked.stalled))
                return
            part = [queue.popleft() for _ in range(min(CHUNK, len(queue)))]
            asked = [(slot, p) for slot, p in part if not self._struck(walked, slot, p)]
            if asked:
                await self._chunk(name, session, asked)
            walked.pace.climb()

    def _struck(self, walked: Walked, slot: int, probe: Probe) -> bool:
        if walked.strikes.get(probe.source, 0) < STRIKES:
            return False
        walked.slots[slot] = ProbeResult(probe=probe, gap=Gap(f"{probe.source}: its calls do not end"))
        return True

    async def _chunk(self, name: str, session: Session, asked: list[Numbered]) -> None:
        walked, waiting = self.of[name], dict(enumerate(asked))
        commands = walked.pace.commands([p for _, p in asked])
        within = LONGEST_S if self.until is None else max(1.0, self.until - time.monotonic())
        async with aclosing(stream(session, commands, lanes=walked.pace.lanes, within_s=within)) as replies:
            async for index, reply in replies:
                if (numbered := waiting.pop(index, None)) is not None:
                    self._take(name, numbered, reply)
        if waiting:
            walked.stalled = f"{name} fell silent while it was probing"
            self._rest(name, waiting.values(), Gap(walked.stalled))
        self._log.sync()

    def _take(self, name: str, numbered: Numbered, reply: Reply) -> None:
        walked, (slot, probe) = self.of[name], numbered
        walked.pace.learn(reply)
        answer = read_ping(reply)
        if not isinstance(answer, Gap):
            result = ProbeResult(probe=probe, sent=answer.sent, received=answer.received)
            walked.took_s.append(reply.duration_s)
        elif answer.kind is GapKind.BUSY and slot not in walked.busy:
            walked.busy.add(slot)  # once more, at the end of the list
            walked.queue.append(numbered)
            return
        else:
            result = ProbeResult(probe=probe, gap=self._why(probe, reply, answer))
            walked.strikes[probe.source] = walked.strikes.get(probe.source, 0) + (reply.exit is None)
        walked.slots[slot] = result
        self._log.add(name, {slot: result})

    def _why(self, probe: Probe, reply: Reply, answer: Gap) -> Gap:
        if reply.tries > 0:
            return answer
        if self.until is not None and time.monotonic() >= self.until - 1:
            return TIME_IS_UP
        return Gap(f"{probe.source}: its calls do not end")

    def _rest(self, name: str, calls: Iterable[Numbered], gap: Gap) -> None:
        slots = self.of[name].slots
        for slot, probe in calls:
            if slot not in slots:
                slots[slot] = ProbeResult(probe=probe, gap=gap)

    def _decided(self, probe: Probe) -> Gap | None:
        for end in (probe.source, probe.target):
            link = self._seen.at(end, Link)
            if link is not None and link.state is LinkState.DOWN:
                return Gap(f"{end}: link is down")
            gap = self._seen.gap(end, DeviceAddress)
            if gap is not None and gap.kind is GapKind.UNSET:
                return Gap(f"{end}: no address is set")
        return None
