"""The cable of a device carries nothing: its port on the leaf is down, or the fibre is broken."""

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


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Behind a leaf one device has no link; a broken fibre has two ends."""
    (device,) = places
    peer = spec.peer(device)
    return both_verbs("NET001", device, *([peer] if peer else []))


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    world.set_link(places[0], up=False)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.set_link(places[0], up=True)


FAULT = Fault(
    kind="link_down",
    title=Text(en="the device's link is down", zh="设备链路断开"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
