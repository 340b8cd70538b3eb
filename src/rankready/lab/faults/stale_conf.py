"""The device is right, the file that a reboot reads is not (facts/hccn 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.address import interface_of, restore_conf, write_conf
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

_FROM_THE_END = 3
"""Old addresses come from the far end of the segment, where no plan of the lab puts a device or a gateway."""


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """The file names another address than the device carries."""
    return both_verbs("NET006", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    (device,) = places
    last = interface_of(world, device).network.broadcast_address
    return write_conf(world, device, {f"address_{device.device}": str(last - _FROM_THE_END - device.device)})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    restore_conf(world, places[0], memory)


FAULT = Fault(
    kind="stale_conf",
    title=Text(en="the device's configuration file is out of date", zh="设备配置文件已过时"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
