"""How many calls one server makes side by side: one, until more was measured to do no harm (facts/mesh 5)."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from rankready.model.snapshot import Gap, GapKind
from rankready.tools.hccn_tool import ping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.mesh.probe import Probe
    from rankready.model.command import Command, Reply
    from rankready.model.observed.device import Ping

LEVELS = (1, 2, 4)
CALLS = 20  # without one busy answer, before the next level is tried
MOST = 10 * CALLS  # whose time is remembered
SLOWER = 1.2  # a level at which calls take so much longer gains nothing


class Pace:
    """One server's number of lanes. Devices that share a device OS never call at once, whatever the number.

    ``highest``: 1 keeps it; more lets it climb to there, level by level, each after twenty clean calls; ``fixed``
    starts at ``highest``. The first busy answer takes it back to one call at a time, for good.
    """

    def __init__(self, rings: tuple[tuple[int, ...], ...], *, highest: int, fixed: bool) -> None:
        """Begin at one call at a time, or at a number that someone answers for."""
        self._rings = rings
        self._highest = max(1, min(highest, len(rings)))
        self.lanes = self._highest if fixed else 1
        self.best = self.lanes  # the most that was clean
        self.busy = False
        self._alone_s: list[float] = []
        self._now_s: list[float] = []

    def commands(self, probes: Sequence[Probe]) -> list[Command]:
        """Return the calls, in lanes that may run side by side at this pace."""
        return [
            replace(ping(p.source.device, p.address, lane=self._lane(p.source.device)), owner=str(p.source.device))
            for p in probes
        ]

    def _lane(self, device: int) -> str:
        if self.lanes == 1:
            return "mesh"
        return next((f"ring{n}" for n, ring in enumerate(self._rings) if device in ring), "mesh")

    def learn(self, reply: Reply, answer: Ping | Gap) -> None:
        """Take a reply into account, and what was read in it."""
        if reply.tries > 1 or (isinstance(answer, Gap) and answer.kind is GapKind.BUSY):
            self.busy, self.lanes = True, 1
        elif not isinstance(answer, Gap) and answer.sent == answer.received:
            times = self._alone_s if self.lanes == 1 else self._now_s
            if len(times) < MOST:
                times.append(reply.duration_s)

    def climb(self) -> None:
        """Go a level up if the present one was long enough clean; a level that slows calls down is left again."""
        if self.busy:
            return
        if self.lanes == 1:
            if len(self._alone_s) >= CALLS:
                self._to(2)
        elif len(self._now_s) >= CALLS:
            if median(self._now_s) > SLOWER * max(median(self._alone_s), 0.01) and self._alone_s:
                self._highest = self.lanes = LEVELS[LEVELS.index(self.lanes) - 1] if self.lanes in LEVELS else 1
                return
            self.best = self.lanes
            self._to(2 * self.lanes)

    def _to(self, lanes: int) -> None:
        if lanes <= self._highest and lanes in LEVELS:
            self.lanes, self._now_s = lanes, []
