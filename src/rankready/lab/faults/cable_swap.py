"""Two devices' cables are plugged into each other's ports of the leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Each of the two hears the other's port."""
    return both_verbs("CAB002", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    world.swap(*places)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.swap(*places)


FAULT = Fault(
    kind="cable_swap",
    title=Text(en="the cables of two devices are swapped", zh="两个设备的线缆互换"),
    takes=(PlaceKind.DEVICE, PlaceKind.DEVICE),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    topologies=("switch",),
)
