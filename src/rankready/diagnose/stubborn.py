"""Ranks that did not heed the order to stop: they stood still, or stood in the kernel (facts/logs 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.kind.signature import Role
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from rankready.diagnose.case import Case

FEW = 4
TERM, KILL = 15, 9
TIME_TO_SAY_S = 2.0


def stubborn(case: Case) -> Blame | None:
    """While others wait: the few that had to be killed where all others ended when they were told to."""
    told = {r for r, e in case.ends.items() if e.stopped and e.signal == TERM}
    killed = {r for r, e in case.ends.items() if e.stopped and e.signal == KILL}
    killed |= {e.rank for e in case.of("unstoppable") if e.rank is not None}
    ranks = tuple(sorted(r for r in killed if r in case.roster.by_rank and r not in case.waiting()))
    if not ranks or len(ranks) > FEW or not case.waiting() or (not told and len(ranks) > 1):
        return None
    lines = [e.line for e in case.of("unstoppable")]
    lines += [e.line for e in case.of("waited_for", "wait_peer", "notify_wait")]
    return Blame(
        kind="stuck",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=case.stall,
        certainty=Certainty.MAYBE,
        lines=tuple(lines),
        fields={"pid": case.roster.pid_of(ranks[0])},
        place_known=len(ranks) == 1,
        witnesses=len(case.waiting()),
    )


def heeded(case: Case, rank: int) -> bool:
    """Tell whether a rank ended when it was told to: it may have waited like the others, and had no time to say so."""
    end = case.ends.get(rank)
    if end is None or not end.stopped or end.signal != TERM:
        return False
    reports = [e.at for r in case.waiting() if (e := case.first(r, Role.TIMEOUT)) and e.at is not None]
    return end.at is None or not reports or end.at < max(reports) + TIME_TO_SAY_S
