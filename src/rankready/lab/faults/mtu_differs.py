"""The device's MTU is another than everybody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.address import restore_conf
from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """It is the odd one out; small probes pass."""
    return both_verbs("NET012", *places)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    (device,) = places
    before = world.mtu(device)
    if before == args["mtu"]:
        raise LabError(f"{device}: its MTU is {before} already", zh=f"{device}：MTU 已是 {before}")
    conf = world.conf(device.name)
    world.set_mtu(device, args["mtu"])
    return {"mtu": before, "conf": conf, "left": world.conf(device.name), "keys": f"mtu_{device.device}"}


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    (device,) = places
    world.set_mtu(device, memory["mtu"])
    restore_conf(world, device, memory)


FAULT = Fault(
    kind="mtu_differs",
    title=Text(en="the device's MTU differs", zh="设备 MTU 与其他设备不同"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"mtu": "4200"},
)
