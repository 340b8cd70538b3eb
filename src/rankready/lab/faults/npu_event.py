"""The driver logs a fault of the device that does not end (facts/logs 6.5)."""

from __future__ import annotations

import time
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
    """A multi-bit error in the HBM, unless another event is named."""
    return (Expect(verb="check", code="HST015", place=places[0], outcome=Outcome.WARN),)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"EVENT": f"{int(time.time())} {args['event']}"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="npu_event",
    title=Text(en="the kernel's log holds an NPU fault", zh="内核日志中有 NPU 故障"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"event": "80E01801"},
)
