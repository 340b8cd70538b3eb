"""The leaf's port of a device is in the wrong VLAN: link up, LLDP heard, nobody reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.lab.wiring import LOST_VLAN
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place

_MOST = 4094


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """The port tells another PVID than its segment's others."""
    return both_verbs("CAB003", *places)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    (device,) = places
    right = world.wiring.ports[device].vlan
    wrong = int(args["vlan"]) if args["vlan"].isdecimal() else 0
    if not 1 <= wrong <= _MOST or wrong == right:
        raise LabError(
            f"vlan={args['vlan']} is no other VLAN for {device}; it is in {right}, expected 1 to {_MOST}",
            zh=f"vlan={args['vlan']} 不可用：{device} 现在 VLAN {right}，应为 1 到 {_MOST} 中的其他值",
        )
    world.move(device, wrong)
    return {"vlan": str(right)}


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    world.move(places[0], int(memory["vlan"]))


FAULT = Fault(
    kind="wrong_vlan",
    title=Text(en="the device's switch port is in the wrong VLAN", zh="设备所接交换机端口的 VLAN 错误"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"vlan": str(LOST_VLAN)},
    topologies=("switch",),
)
