"""The first device carries the second one's address, on the device and in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.address import give, give_back, interface_of
from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Both carry it."""
    return both_verbs("NET003", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    first, second = places
    interface_of(world, first)
    return give(world, first, interface_of(world, second))


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    first, second = places
    give_back(world, first, memory)
    # Others may have learnt the first one's MAC for it: the rightful owner takes its address anew.
    world.carry(second, world.carried(second))


FAULT = Fault(
    kind="duplicate_address",
    title=Text(en="two devices carry the same address", zh="两个设备使用同一地址"),
    takes=(PlaceKind.DEVICE, PlaceKind.DEVICE),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
