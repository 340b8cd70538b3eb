"""A job holds the device (facts/hccn 1, rule 7)."""

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
    """A warning here; `apply` refuses to touch the device."""
    return (Expect(verb="check", code="JOB001", place=places[0], outcome=Outcome.WARN),)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"OWNER": f"{args['pid']}:python3"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="job_holds",
    title=Text(en="a job holds the device", zh="有任务占用设备"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"pid": "4711"},
)
