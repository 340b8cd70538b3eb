"""The device is gone: neither tool sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door, Generation
from rankready.lab.switches import open_in_check, turn, unknown
from rankready.model.place import PlaceKind, cluster_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known of it, and its server lists one fewer; a table of physical ids (A3) misses it by name.

    A table in which the first die of an NPU is gone makes no sense: what is read from it is open.
    """
    (device,) = places
    if spec.generation is not Generation.A3:
        return (*unknown(device), Expect(verb="check", code="HST002", place=device.owner))
    if device.device % 2:
        return (*unknown(device), Expect(verb="check", code="HST002", place=device))
    server = open_in_check(device.owner, "HST002", "HST004")
    return (*unknown(device), *server, *open_in_check(cluster_place("lab"), "VER001"))


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"ABSENT": "1"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="device_lost",
    title=Text(en="the device is gone", zh="设备丢失"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
