"""The file that a run leaves: one value from which every report is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.change import Plan
    from rankready.model.finding import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a run, as `up` walks them: its verb, its exit code, how long it took, one line on what came."""

    verb: str
    exit: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What one verb did and learned. ``exit`` as in the design's table; ``extra`` holds the verb's own JSON parts."""

    verb: str
    cluster: str
    started: str  # UTC, ISO 8601
    seconds: float
    exit: int
    simulated: bool = False
    servers: int = 0
    devices: int = 0
    verdicts: tuple[Verdict, ...] = field(default=(), repr=False)  # asyncio.run shows its result to itself: seconds
    plan: Plan | None = field(default=None, repr=False)
    steps: tuple[Step, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
