"""What a rule found, and what it means for a place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.place import Place


class Outcome(StrEnum):
    """Check × place → one of these. Best to worst: PASS < WARN < UNKNOWN < FAIL; SKIP and IMPLIED stand outside."""

    PASS = "pass"  # noqa: S105  (an outcome, no password)
    WARN = "warn"
    UNKNOWN = "unknown"
    FAIL = "fail"
    SKIP = "skip"  # deliberately not judged; needs a reason
    IMPLIED = "implied"  # follows from a root finding elsewhere


class Severity(StrEnum):
    """How much it matters."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Certainty(StrEnum):
    """How sure we are."""

    SURE = "sure"
    LIKELY = "likely"
    MAYBE = "maybe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The words that a statement rests on: the command, an excerpt of its answer, and when (UTC, ISO 8601)."""

    command: str
    excerpt: str
    at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found at one place.

    ``blames`` are other places whose own fault would explain this one: where such a fault is found, this finding is
    IMPLIED. ``message`` says what was seen and what was planned; advice stands in ``remedy``.
    """

    code: str
    severity: Severity
    place: Place
    message: Text
    remedy: str | Text
    certainty: Certainty = Certainty.SURE
    evidence: tuple[Evidence, ...] = ()
    blames: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Check × place → outcome. ``reason`` says why for UNKNOWN, SKIP and IMPLIED; ``reason_zh`` where it is our own."""

    code: str
    place: Place
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    reason_zh: str = ""

    @property
    def why(self) -> Text:
        """The reason in both languages; a tool's own words are the same in each."""
        return Text(en=self.reason, zh=self.reason_zh or self.reason)


def exit_code(verdicts: tuple[Verdict, ...], *, strict: bool = False) -> int:
    """Return 1 for findings, 3 for incomplete, 0 for as planned; 1 wins over 3, 3 over 0. ``strict``: WARN is 1."""
    outcomes = {v.outcome for v in verdicts}
    if Outcome.FAIL in outcomes or (strict and Outcome.WARN in outcomes):
        return 1
    return 3 if Outcome.UNKNOWN in outcomes else 0
