"""The device lost its address; the file still has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.address import interface_of
from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.lab.world import Carried
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """The plan says what it should carry; that it is silent, and that the file differs, follows."""
    return both_verbs("NET002", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    interface_of(world, places[0])
    before = world.carried(places[0])
    world.carry(places[0], Carried())
    return {"address": before.address, "gateway": before.gateway}


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    world.carry(places[0], Carried(address=memory["address"], gateway=memory["gateway"]))


FAULT = Fault(
    kind="address_lost",
    title=Text(en="the device lost its address", zh="设备丢失地址"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
