"""A whole leaf is dead: every device that hangs on it has no link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is heard any more of which leaf it was: each device tells of its own link."""
    return both_verbs("NET001", *_devices(places[0], spec))


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    for device in _devices(places[0], world.spec):
        world.set_link(device, up=False)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    for device in _devices(places[0], world.spec):
        world.set_link(device, up=True)


def _devices(leaf: Place, spec: LabSpec) -> tuple[Place, ...]:
    servers = [name for number, name in enumerate(spec.names) if spec.leaf(number) == leaf.name]
    return tuple(device_place(name, device) for name in servers for device in range(spec.devices))


FAULT = Fault(
    kind="leaf_down",
    title=Text(en="a whole leaf is dead", zh="整台 leaf 交换机失效"),
    takes=(PlaceKind.LEAF,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    topologies=("switch",),
)
