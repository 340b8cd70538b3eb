"""The accused's own log begins too late: whatever it said first was rotated away (facts/logs 2.1, 9.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from rankready.diagnose.blame import Blame
    from rankready.diagnose.case import Case

OPENED_S = 60.0  # a process opens its error log within this of its start
VAGUE = ("stuck", "unknown", "exited")
OUTSIDE = (
    "host_oom_kill",
    "link_down",
    "hbm_ecc",
    "stuck_io",
    "host_silent",
    "late_start",
    "never_started",
    "wrong_nic",
)


def lost(case: Case, blame: Blame) -> Blame:
    """Turn a claim that rests on what is left of a rotated log into "first error lost"; others pass as they are."""
    if blame.kind in OUTSIDE or not blame.ranks or len(blame.ranks) > 1:
        return blame
    (rank,) = blame.ranks
    start, left = case.began.get(rank), case.log_from.get(rank)
    if start is None or left is None or case.stall is None:
        return blame
    if left - start <= OPENED_S or left <= case.stall:
        return blame
    if blame.kind not in VAGUE and blame.at is not None and blame.at < left:
        return blame
    return replace(blame, kind="first_error_lost", at=case.stall, certainty=Certainty.MAYBE, place_known=True)
