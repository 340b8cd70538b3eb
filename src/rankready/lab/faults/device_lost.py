"""The device is gone: neither tool sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn, unknown
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known of it; where the table tells physical ids (A3), it is missed by name too."""
    (device,) = places
    missed = Expect(verb="check", code="HST002", place=device, optional=True)
    server = Expect(verb="check", code="HST002", place=device.owner, optional=True)
    return (*unknown(device), missed, server)


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
