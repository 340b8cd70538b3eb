"""The order of the rules: from what differs, over what is hard, to what only hints (facts/logs 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.diagnose.beats import beats
from rankready.diagnose.blame import weaker
from rankready.diagnose.creation import creation
from rankready.diagnose.edges import edges
from rankready.diagnose.groups import groups
from rankready.diagnose.hard import hard
from rankready.diagnose.links import links
from rankready.diagnose.lost import lost
from rankready.diagnose.operators import operators
from rankready.diagnose.peers import peers
from rankready.diagnose.silence import dark_hosts, silence
from rankready.diagnose.storage import with_storage
from rankready.diagnose.stubborn import stubborn
from rankready.diagnose.verdict import Outcome, Verdict
from rankready.kind.signature import Role
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.diagnose.blame import Blame
    from rankready.diagnose.case import Case
    from rankready.kind.signature import Fault

RULES = (groups, hard, creation, peers, beats, links, operators, stubborn, silence, edges, dark_hosts)


def judge(case: Case, faults: Mapping[str, Fault]) -> Verdict:
    """Name the first fault of a job, or say that it is not known."""
    if _ended_well(case):
        return Verdict(outcome=Outcome.NONE)
    found = [blame for rule in RULES if (blame := rule(case)) is not None]
    if not found:
        return Verdict(outcome=Outcome.UNKNOWN)  # no sign of a fault is no sign of a good end
    blame = _adjusted(case, lost(case, with_storage(case, found[0])))
    known = faults[blame.kind].known if blame.kind in faults else True
    if not blame.place_known:
        others = tuple(
            b for b in found[1:] if b.kind != blame.kind and (b.hosts, b.ranks) != (blame.hosts, blame.ranks)
        )
        return Verdict(outcome=Outcome.UNKNOWN, suspects=(blame, *others))
    if not known or blame.certainty is Certainty.MAYBE:
        return Verdict(outcome=Outcome.SUSPECT, blame=blame, suspects=(blame,))
    return Verdict(outcome=Outcome.CAUSE, blame=blame)


def _ended_well(case: Case) -> bool:
    """All ranks ended with 0; or nobody failed and each left in good order."""
    ranks = case.roster.ranks
    if not ranks:
        return False
    if all(r in case.ends and case.ends[r].exit == 0 for r in ranks):
        return True
    if case.stopped_by_hand and not any(e.failed and not e.stopped for e in case.ends.values() if e.signal is None):
        return True
    if any(e.failed for e in case.ends.values()):
        return False
    left = {e.rank for e in case.of("leave", "finished")}
    well = [r for r in ranks if r in left or (r in case.ends and case.ends[r].exit == 0)]
    return len(well) == len(ranks) or (len(well) >= len(ranks) / 2 and not _troubled(case))


def _troubled(case: Case) -> bool:
    """Tell whether anybody failed, waited in vain, lost a peer, or was accused."""
    roles = (Role.TIMEOUT, Role.LEFT, Role.PEER, Role.HEARTBEAT, Role.GROUP)
    return any(e.failed for e in case.ends.values()) or any(e.signature.role in roles for e in case.events)


def _adjusted(case: Case, blame: Blame) -> Blame:
    """Take one step off where something on the accused host was not read, or its clock is only guessed."""
    gap = any(host in blame.hosts for host, _ in case.collected.gaps)
    gap = gap or (bool(case.ascend_read) and any(h not in case.ascend_read for h in blame.hosts))
    clock = any(case.clocks[h].how == "unknown" for h in blame.hosts if h in case.clocks)
    elsewhere = bool(case.unread()) and blame.certainty is Certainty.SURE
    certainty = blame.certainty
    if (gap or clock or elsewhere) and certainty is not Certainty.MAYBE:
        certainty = Certainty.LIKELY if certainty is Certainty.SURE else weaker(certainty)
        if certainty is Certainty.MAYBE:
            certainty = Certainty.LIKELY  # a gap makes a proof weaker; it does not undo it
    return replace(blame, certainty=certainty, at=blame.at if blame.at is not None else _ended(case, blame))


def _ended(case: Case, blame: Blame) -> float | None:
    """A fault whose lines have no moment was not later than the first end of those that it concerns."""
    ends = (case.ends[r] for r in blame.ranks or () if r in case.ends)
    return min((e.at for e in ends if e.failed and not e.stopped and e.at is not None), default=None)
