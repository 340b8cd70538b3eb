"""What probing leads to: suspects with the next thing to test, findings, and who stayed undecided."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.mesh.clues import Kind
    from rankready.model.finding import Certainty, Finding
    from rankready.model.place import Place
    from rankready.model.text import Text

NO_DEVICE = "NET009"
LOSS = "NET010"
PATH = "NET011"


class Way(StrEnum):
    """Where the packets between a suspect and its reference are lost."""

    TOWARDS = "towards"  # the suspect
    FROM = "from"  # the suspect
    BOTH = "both"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """The answer of a trial: packets lost on their way to the suspect and from it; ``why`` it is not known."""

    way: Way
    reference: Place | None = None
    towards: int = 0
    away: int = 0
    why: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """Places of which one or all are at fault: all of an island, one of a pair.

    ``witnesses``: who noticed. ``rate``: the share of packets that is lost. ``direction``: which way, where tried.
    """

    places: tuple[Place, ...]
    kind: Kind
    witnesses: int
    certainty: Certainty
    next_test: Text
    rate: float = 1.0
    direction: Direction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Localisation:
    """Where the faults are.

    ``undecided``: devices that nothing can be said of, with the reason. ``reached``: devices that stand with the
    majority, with the number of partners that reached them. ``slow_hosts``: servers whose own calls were left out.
    """

    suspects: tuple[Suspect, ...] = ()
    findings: tuple[Finding, ...] = ()
    undecided: Mapping[Place, str] = field(default_factory=dict)
    reached: Mapping[Place, int] = field(default_factory=dict)
    slow_hosts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Accusation:
    """One suspect and the findings that say so."""

    suspect: Suspect
    findings: tuple[Finding, ...] = ()
