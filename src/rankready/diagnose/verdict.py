"""The answer: what failed first, how sure that is, who only waited, and what was not seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.diagnose.blame import Blame
    from rankready.model.text import Text


class Outcome(StrEnum):
    """Place and reason known; place only; neither; nothing went wrong."""

    CAUSE = "cause"
    SUSPECT = "suspect"
    UNKNOWN = "unknown"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the cascade found. ``suspects`` are all that may be meant where the outcome is not CAUSE."""

    outcome: Outcome
    blame: Blame | None = None
    suspects: tuple[Blame, ...] = ()
    remarks: tuple[Text, ...] = field(default_factory=tuple)
