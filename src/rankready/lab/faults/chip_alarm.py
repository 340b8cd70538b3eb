"""The chip calls itself sick."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door, Generation
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


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """The device list of A1 and A2 tells no physical ids, so the server is named."""
    place = places[0] if spec.generation is Generation.A3 else places[0].owner
    return (Expect(verb="check", code="HST004", place=place, outcome=Outcome.FAIL),)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"CHIP_HEALTH": args["health"]})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="chip_alarm",
    title=Text(en="the chip reports an alarm", zh="芯片上报告警"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"health": "Alarm"},
)
