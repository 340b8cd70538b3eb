"""The port uses another forward error correction than the others (A1; newer devices do not tell)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door, Generation
from rankready.lab.switches import turn
from rankready.model.errors import LabError
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
    """It is the odd one out."""
    return (Expect(verb="check", code="NET015", place=places[0], outcome=Outcome.WARN),)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    if world.spec.generation is not Generation.A1:
        raise LabError("newer devices do not tell their FEC mode", zh="新一代设备不上报 FEC 模式")
    return turn(world, places[0], {"FEC": args["mode"]})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="fec_differs",
    title=Text(en="the FEC mode differs", zh="FEC 模式与其他设备不同"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"mode": "no"},
)
