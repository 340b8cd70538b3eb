"""The shape of one fault: how to break, how to mend, and exactly what the product must say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankready.model.finding import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.lab.spec import Door, LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place, PlaceKind
    from rankready.model.text import Text

Arguments = "Mapping[str, str]"
Memory = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """One root finding that a fault must cause when ``verb`` runs. ``optional``: may show, need not (chance)."""

    verb: str
    code: str
    place: Place
    outcome: Outcome = Outcome.FAIL
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing to break.

    ``takes`` are the kinds of places, in order; ``options`` the arguments with their defaults. ``apply`` returns
    when the fault is in force, with what ``undo`` needs to put everything back exactly. ``causes`` names the root
    findings; whatever else a verb shows must be IMPLIED by them. Both may raise LabError with the reason.
    """

    kind: str
    title: Text
    takes: tuple[PlaceKind, ...]
    doors: tuple[Door, ...]
    causes: Callable[[tuple[Place, ...], LabSpec], tuple[Expect, ...]]
    apply: Callable[[World, tuple[Place, ...], Mapping[str, str]], Memory]
    undo: Callable[[World, tuple[Place, ...], Memory], None]
    options: Mapping[str, str] = field(default_factory=dict)
    topologies: tuple[str, ...] = ("switch", "direct")

    def told(self) -> dict[str, Any]:
        """What can be asked of it, as JSON values."""
        return {
            "kind": self.kind,
            "title": {"en": self.title.en, "zh": self.title.zh},
            "takes": [str(kind) for kind in self.takes],
            "options": dict(self.options),
            "doors": [str(door) for door in self.doors],
            "topologies": list(self.topologies),
        }


def both_verbs(code: str, *places: Place) -> tuple[Expect, ...]:
    """The same findings in ``check`` and in ``mesh``."""
    return tuple(Expect(verb=verb, code=code, place=place) for verb in ("check", "mesh") for place in places)
