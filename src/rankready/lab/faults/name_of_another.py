"""The server's own name leads to the address of another server, as a cloned hosts file has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.names import lead, lead_back
from rankready.lab.spec import Door
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """It is somebody else's address."""
    return (Expect(verb="check", code="HST017", place=places[0], outcome=Outcome.FAIL),)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return lead(world, places[0], _other(world, places[0]))


def _other(world: World, server: Place) -> str:
    return next(m.address for m in world.wiring.machines if m.name != server.name)


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    lead_back(world, places[0], memory)


FAULT = Fault(
    kind="name_of_another",
    title=Text(en="the server's own name leads to another server", zh="主机名指向另一台服务器"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS),  # simulated servers share this machine's loopback
    causes=causes,
    apply=_apply,
    undo=_undo,
)
