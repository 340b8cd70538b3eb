"""A 400G port of the leaf is not split: neither of its two devices has a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Both of the port's devices are dark; their links follow from the port."""
    return both_verbs("CAB004", *_both(places[0]))


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    if not world.spec.split_ports:
        raise LabError(
            "port_unsplit needs a leaf of 400G ports: rankready lab up --split-ports",
            zh="port_unsplit 需要 400G 端口的交换机：rankready lab up --split-ports",
        )
    for device in _both(places[0]):
        world.set_link(device, up=False)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    for device in _both(places[0]):
        world.set_link(device, up=True)


def _both(device: Place) -> tuple[Place, Place]:
    first = device.device & ~1
    return device_place(device.name, first), device_place(device.name, first + 1)


FAULT = Fault(
    kind="port_unsplit",
    title=Text(en="a 400G switch port of two devices is not split", zh="两个设备共用的 400G 交换机端口没有拆分"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    topologies=("switch",),
)
