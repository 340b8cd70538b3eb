"""The script as a part of the look before a start: what is sure to go wrong on several servers ends it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rankready.model.finding import Certainty, Outcome
from rankready.runs.vet import vet_script

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.finding import Verdict

READ: Final = "JOB101"  # of the script's own codes: who names it has read the script a moment ago


def by_reading(script: Path, *, force: bool) -> tuple[Verdict, ...]:
    """Return what reading the script shows; what is not sure, or all of it with ``force``, is a warning."""
    found = (v for v in vet_script(script).verdicts if v.outcome in (Outcome.FAIL, Outcome.WARN))
    return tuple(v if _sure(v) and not force else replace(v, outcome=Outcome.WARN) for v in found)


def _sure(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.FAIL and any(f.certainty is Certainty.SURE for f in verdict.findings)
