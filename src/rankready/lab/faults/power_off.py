"""The server loses its power: processes, addresses and links go, the disk stays; healing boots it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known about the server, and it is silent; whoever probes one of its devices finds nobody there."""
    (server,) = places
    others = (
        device_place(name, number) for name in spec.names if name != server.name for number in range(spec.devices)
    )
    return (
        *(Expect(verb=verb, code="HST001", place=server, outcome=Outcome.UNKNOWN) for verb in ("check", "mesh")),
        Expect(verb="mesh", code="NET009", place=server),
        *(Expect(verb="check", code="NET008", place=p, outcome=Outcome.WARN, optional=True) for p in others),
    )


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    world.power(places[0].name, on=False)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.power(places[0].name, on=True)


FAULT = Fault(
    kind="power_off",
    title=Text(en="the server has no power", zh="服务器断电"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
