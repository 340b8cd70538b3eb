"""Who said nothing while the others waited, and which servers nobody could read (facts/logs 9.5, step 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.kind.signature import Role
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from rankready.diagnose.case import Case

FEW = 4


def silence(case: Case) -> Blame | None:
    """Most ranks report that they waited; the one or few that were read and report nothing are meant.

    Nobody is silent of whom the files are missing in which he would have spoken.
    """
    waiting = case.waiting()
    ranks = case.roster.ranks
    silent = tuple(r for r in ranks if r not in waiting and r in case.read and not _stopped(case, r))
    if not silent or len(waiting) < len(ranks) / 2 or set(ranks) - case.heard:
        return None
    dead = tuple(r for r in silent if _died_early(case, r))
    places = dead or silent
    first = min((e for r in waiting if (e := case.first(r, Role.TIMEOUT, Role.LEFT))), key=lambda e: e.at or 0.0)
    return Blame(
        kind="stuck" if not dead else "unknown",
        hosts=case.hosts_of(places),
        ranks=places,
        at=case.stall,
        certainty=Certainty.MAYBE,
        lines=(first.line,),
        codes=first.signature.codes,
        fields={"pid": case.roster.pid_of(places[0])},
        place_known=len(places) == 1,
        witnesses=len(waiting),
    )


def dark_hosts(case: Case) -> Blame | None:
    """The others waited, and of some servers not a word was read: they are where to look."""
    dark = case.dark()
    if not dark or not case.waiting():
        return None
    first = next((e for r in case.waiting() if (e := case.first(r, Role.TIMEOUT, Role.LEFT, Role.PEER))), None)
    return Blame(
        kind="host_silent",
        hosts=dark,
        ranks=tuple(r for h in dark for r in case.roster.on(h)),
        at=case.stall,
        certainty=Certainty.MAYBE,
        lines=(first.line,) if first else (),
        codes=first.signature.codes if first else (),
        place_known=len(dark) == 1,
        witnesses=len(case.waiting()),
    )


def _died_early(case: Case, rank: int) -> bool:
    """Tell whether it ended before the others had given it up; later it was ended because they had."""
    end = case.ends.get(rank)
    reports = [e.at for r in case.waiting() if (e := case.first(r, Role.TIMEOUT, Role.LEFT)) and e.at is not None]
    return bool(end and end.failed and (end.at is None or not reports or end.at < min(reports)))


def _stopped(case: Case, rank: int) -> bool:
    return rank in case.ends and case.ends[rank].stopped
