"""What one look taught us: a fact or a gap for each (place, kind of fact)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.finding import Evidence
    from rankready.model.place import Place

F = TypeVar("F")


class GapKind(StrEnum):
    """Why something asked is not known (facts/hccn 1, rule 3)."""

    UNSET = "unset"  # the tool answered: nothing is set there
    UNSUPPORTED = "unsupported"
    BUSY = "busy"
    DENIED = "denied"
    UNKNOWN = "unknown"  # words that we don't know, a timeout, a lost server


@dataclass(frozen=True, slots=True)
class Gap:
    """Asked but not learned, and why; ``zh`` the same in Chinese, empty where the reason is a program's own words."""

    reason: str
    kind: GapKind = GapKind.UNKNOWN
    zh: str = ""

    @property
    def why(self) -> Text:
        """The reason in both languages."""
        return Text(en=self.reason, zh=self.zh or self.reason)


Key = tuple["Place", type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Facts and gaps by (place, fact type), with the words that each was read from. ``at`` is UTC, ISO 8601."""

    facts: Mapping[Key, object] = field(default_factory=dict)
    evidence: Mapping[Key, Evidence] = field(default_factory=dict)
    at: str = ""

    def merged(self, other: Snapshot) -> Snapshot:
        """Return both looks as one; where both know, the other's (later) answer stands."""
        return Snapshot(
            facts={**self.facts, **other.facts},
            evidence={**self.evidence, **other.evidence},
            at=other.at or self.at,
        )


class Seen:
    """A snapshot as checks read it."""

    def __init__(self, snapshot: Snapshot) -> None:
        """Wrap one snapshot."""
        self.snapshot = snapshot

    def at(self, place: Place, fact: type[F]) -> F | None:
        """Return the fact at a place, or None where it is a gap or was never asked."""
        found = self.snapshot.facts.get((place, fact))
        return found if isinstance(found, fact) else None

    def gap(self, place: Place, fact: type) -> Gap | None:
        """Return why the fact is not known there; a fact that nobody asked for is a gap too."""
        found = self.snapshot.facts.get((place, fact), _NEVER_ASKED)
        return found if isinstance(found, Gap) else None

    def unset(self, place: Place, fact: type) -> bool:
        """Tell whether the tool answered that nothing is set there."""
        gap = self.gap(place, fact)
        return gap is not None and gap.kind is GapKind.UNSET

    def each(self, fact: type[F]) -> Iterator[tuple[Place, F]]:
        """Yield every place where this fact is known, in the order of the look (cluster order)."""
        for (place, kind), found in self.snapshot.facts.items():
            if kind is fact and isinstance(found, fact):
                yield place, found

    def evidence(self, place: Place, fact: type) -> tuple[Evidence, ...]:
        """Return the words that a fact was read from."""
        found = self.snapshot.evidence.get((place, fact))
        return () if found is None else (found,)


_NEVER_ASKED = Gap("not asked")
