"""A share of the packets is lost at a device's port, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.lab.world import Direction
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place

_MOST = 99


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Mesh counts the loss, on a fibre for both ends alike; whether a health probe is hit is chance, at either."""
    (device,) = places
    peer = spec.peer(device)
    rail = (device_place(name, device.device) for name in spec.names)
    chance = (Expect(verb="check", code="NET008", place=place, optional=True) for place in rail)
    lost = (Expect(verb="mesh", code="NET010", place=end) for end in (device, peer) if end is not None)
    return (*lost, *chance)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    percent = int(args["percent"]) if args["percent"].isdecimal() else 0
    if not 1 <= percent <= _MOST:
        raise LabError(
            f"percent={args['percent']}: expected 1 to {_MOST}", zh=f"percent={args['percent']}：应为 1 到 {_MOST}"
        )
    world.drop(places[0], percent, Direction.BOTH)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.stop_dropping(places[0])


FAULT = Fault(
    kind="packet_loss",
    title=Text(en="packets are lost at the device's port", zh="设备端口丢包"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"percent": "30"},
)
