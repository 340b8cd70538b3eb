"""A device carries the right address with a wrong mask, on the device and in the file."""

from __future__ import annotations

from ipaddress import IPv4Interface
from typing import TYPE_CHECKING

from rankready.lab.address import give, give_back, interface_of
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
    """The mask is not the planned one."""
    return both_verbs("NET004", *places)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    (device,) = places
    now = interface_of(world, device)
    try:
        wrong = IPv4Interface(f"{now.ip}/{args['netmask']}")
    except ValueError as error:
        raise LabError(f"netmask={args['netmask']}: {error}", zh=f"netmask={args['netmask']} 不是子网掩码") from error
    if wrong == now:
        raise LabError(
            f"netmask={args['netmask']} is what {device} carries already",
            zh=f"{device} 的子网掩码已是 {args['netmask']}",
        )
    return give(world, device, wrong)


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    give_back(world, places[0], memory)


FAULT = Fault(
    kind="wrong_netmask",
    title=Text(en="the device's netmask is wrong", zh="设备子网掩码错误"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"netmask": "255.255.255.252"},
)
