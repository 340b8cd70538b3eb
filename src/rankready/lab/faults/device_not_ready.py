"""The device never reports health, so the tool refuses every command (facts/hccn 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn, unknown
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known of the device."""
    return unknown(*places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"READY": "0"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="device_not_ready",
    title=Text(en="the device does not become ready", zh="设备未就绪"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
