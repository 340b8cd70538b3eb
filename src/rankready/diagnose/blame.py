"""Who is to blame, as far as one rule of the cascade can tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.diagnose.event import Line

MOST_EVIDENCE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Blame:
    """A first fault: its kind, place, true time, the lines that say so. ``place_known`` False: not even the place is.

    ``ranks`` None: it concerns hosts as a whole. ``fields`` fill the texts of the kind.
    """

    kind: str
    hosts: tuple[str, ...]
    ranks: tuple[int, ...] | None = None
    at: float | None = None
    certainty: Certainty = Certainty.LIKELY
    lines: tuple[Line, ...] = ()
    codes: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    place_known: bool = True
    witnesses: int = 0


def weaker(certainty: Certainty) -> Certainty:
    """Return one step less."""
    return {Certainty.SURE: Certainty.LIKELY, Certainty.LIKELY: Certainty.MAYBE}.get(certainty, certainty)
