"""The layout of a record file, strict in both directions."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from rankready.model.change import What  # noqa: TC001  (msgspec reads annotations at run time)
from rankready.model.finding import Certainty, Outcome, Severity  # noqa: TC001  (the same)


class Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One object of the file."""


class TextShape(Shape, frozen=True, kw_only=True):
    """A statement in both languages."""

    en: str
    zh: str


class EvidenceShape(Shape, frozen=True, kw_only=True):
    """The words that a statement rests on."""

    command: str
    excerpt: str
    at: str = ""


class FindingShape(Shape, frozen=True, kw_only=True):
    """What one check found at one place."""

    code: str
    severity: Severity
    place: str
    message: TextShape
    remedy: str | TextShape
    certainty: Certainty
    evidence: tuple[EvidenceShape, ...] = ()
    blames: tuple[str, ...] = ()


class VerdictShape(Shape, frozen=True, kw_only=True):
    """Check × place → outcome."""

    code: str
    place: str
    outcome: Outcome
    findings: tuple[FindingShape, ...] = ()
    reason: str = ""
    reason_zh: str = ""


class ChangeShape(Shape, frozen=True, kw_only=True):
    """One step of a plan."""

    place: str
    what: What
    before: str | None
    after: str
    reason: str = ""
    reason_zh: str = ""


class ProblemShape(Shape, frozen=True, kw_only=True):
    """A conflict found before any write."""

    rule: str
    places: tuple[str, ...]
    message: str
    zh: str = ""


class PlanShape(Shape, frozen=True, kw_only=True):
    """The plan of a run."""

    changes: tuple[ChangeShape, ...] = ()
    problems: tuple[ProblemShape, ...] = ()
    unread: tuple[tuple[str, ...], ...] = ()  # place, reason, and the reason in Chinese where it was kept


class StepShape(Shape, frozen=True, kw_only=True):
    """One step of a guide."""

    verb: str
    exit: int
    seconds: float
    note: str = ""


class RecordShape(Shape, frozen=True, kw_only=True):
    """The whole file."""

    version: int
    verb: str
    cluster: str
    started: str
    seconds: float
    exit: int
    simulated: bool = False
    servers: int = 0
    devices: int = 0
    verdicts: tuple[VerdictShape, ...] = ()
    plan: PlanShape | None = None
    steps: tuple[StepShape, ...] = ()
    extra: dict[str, Any] = {}
