"""The loader does not find the driver's libraries (facts/hccn 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn_all, turn_all_back, unknown
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known of any device of the server."""
    return unknown(*_devices(places[0], spec))


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn_all(world, _devices(places[0], world.spec), {"LIBS": "gone"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn_all_back(world, _devices(places[0], world.spec), memory)


def _devices(server: Place, spec: LabSpec) -> tuple[Place, ...]:
    return tuple(device_place(server.name, number) for number in range(spec.devices))


FAULT = Fault(
    kind="libs_missing",
    title=Text(en="the driver's libraries are missing", zh="驱动库缺失"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
