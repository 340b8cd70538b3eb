"""The DSCP map of a switch's lossless template: 24 and 25, not the 33 that HCCL marks (facts/hccn 7.6)."""

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
    """It differs from the others, and a job's packets wait with everything else."""
    return (
        Expect(verb="check", code="NET018", place=places[0], outcome=Outcome.WARN),
        Expect(verb="check", code="NET019", place=places[0], outcome=Outcome.WARN),
    )


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"DSCP": "24:2 25:3"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="dscp_of_a_template",
    title=Text(en="the DSCP map leaves the job's packets out", zh="DSCP 映射不含任务使用的值"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
