"""How much of what was planned is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rankready.mesh.probe import ProbeResult
    from rankready.mesh.schedule import Schedule
    from rankready.model.place import Place


Pair = tuple["Place", "Place"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Planned probes by what came of them (facts/mesh 12).

    ``proven``: every packet of one call came back. ``connected``: some did. ``failed``: none did. ``unmeasured``: no
    call could be made or read; ``explained`` of these have an end whose fault is known, ``reason`` is the first
    other's.
    """

    planned: int
    proven: int
    connected: int
    failed: int
    unmeasured: int
    explained: int
    rounds: int
    bound: int
    reason: str = ""

    @property
    def complete(self) -> bool:
        """Nothing is left unmeasured without a known cause."""
        return self.unmeasured == self.explained


def coverage(schedule: Schedule, results: Sequence[ProbeResult], faulty: Collection[Place] = ()) -> Coverage:
    """Count the planned rail probes; references and follow-ups prove nothing that was planned."""
    best, reasons = _best(results)
    shares = {key: best.get(key) for key in schedule.required()}
    unmeasured = [key for key, share in shares.items() if share is None]
    unknown = [key for key in unmeasured if set(key).isdisjoint(faulty)]
    reached = [share for share in shares.values() if share is not None]
    first = next(iter(unknown), None)
    return Coverage(
        planned=schedule.planned,
        proven=sum(share >= 1 for share in reached),
        connected=sum(0 < share < 1 for share in reached),
        failed=sum(share <= 0 for share in reached),
        unmeasured=len(unmeasured),
        explained=len(unmeasured) - len(unknown),
        rounds=len(schedule.steps) + len(schedule.references),
        bound=schedule.bound,
        reason="" if first is None else f"{first[0]} to {first[1]}: {reasons.get(first, 'not probed')}",
    )


def _best(results: Sequence[ProbeResult]) -> tuple[dict[Pair, float], dict[Pair, str]]:
    """Return the best share of echoes of each ordered pair, and why calls could not be made or read."""
    best: dict[Pair, float] = {}
    reasons: dict[Pair, str] = {}
    for r in results:
        key = (r.probe.source, r.probe.target)
        if r.gap is not None:
            reasons.setdefault(key, r.gap.reason)
        elif r.sent > 0:
            best[key] = max(best.get(key, 0.0), r.received / r.sent)
    return best, reasons
