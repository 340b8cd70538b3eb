"""Packets pass a device's port in one direction only: no echo ever comes back, either way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.lab.world import Direction
from rankready.model.errors import LabError
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place

_ALL = 100


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """The device's own probe fails; so does that of whoever probes it, one of the devices at its position.

    On a fibre nothing tells which end is at fault: the pair is named, and neither end is cleared.
    """
    (device,) = places
    peer = spec.peer(device)
    if peer is not None:
        return tuple(
            expect
            for end in (device, peer)
            for expect in (
                Expect(verb="check", code="NET008", place=end),
                Expect(verb="mesh", code="NET011", place=end),
                Expect(verb="mesh", code="NET009", place=end, outcome=Outcome.UNKNOWN),
            )
        )
    others = (device_place(name, device.device) for name in spec.names if name != device.name)
    return (
        Expect(verb="check", code="NET008", place=device),
        Expect(verb="mesh", code="NET009", place=device),
        *(Expect(verb="check", code="NET008", place=place, optional=True) for place in others),
    )


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    if args["direction"] not in ("in", "out"):
        raise LabError(
            f"direction={args['direction']}: expected in or out", zh=f"direction={args['direction']}：应为 in 或 out"
        )
    world.drop(places[0], _ALL, Direction(args["direction"]))
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.stop_dropping(places[0])


FAULT = Fault(
    kind="one_way",
    title=Text(en="the device's port passes packets one way only", zh="设备端口单向不通"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"direction": "in"},
)
