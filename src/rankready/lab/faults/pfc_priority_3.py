"""PFC covers priority 3, as deployment tools set it, and not the 4 that HCCL uses (facts/hccn 7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """It differs from the others, and a job's packets may be dropped there."""
    return (
        Expect(verb="check", code="NET016", place=places[0], outcome=Outcome.WARN),
        Expect(verb="check", code="NET017", place=places[0], outcome=Outcome.WARN),
    )


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"PFC": "0 0 0 1 0 0 0 0"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="pfc_priority_3",
    title=Text(en="PFC covers priority 3 instead of 4", zh="PFC 覆盖优先级 3 而非 4"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
