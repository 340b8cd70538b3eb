"""The server's firewall is on and lets nothing of a job in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Only ``check`` looks at firewalls."""
    return tuple(Expect(verb="check", code="FWL001", place=place) for place in places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    (server,) = places
    if world.firewall(server.name):
        raise LabError(f"{server}: the firewall is on already", zh=f"{server}：防火墙已开启")
    world.set_firewall(server.name, on=True)
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.set_firewall(places[0].name, on=False)


FAULT = Fault(
    kind="firewall_on",
    title=Text(en="the server's firewall is on", zh="服务器防火墙已开启"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
