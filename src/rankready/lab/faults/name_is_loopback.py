"""The server's own name leads to 127.0.1.1, as installers write it (facts/launch 8)."""

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
    """Its peers would be told 127.x."""
    return (Expect(verb="check", code="HST003", place=places[0], outcome=Outcome.WARN),)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    return lead(world, places[0], args["address"])


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    lead_back(world, places[0], memory)


FAULT = Fault(
    kind="name_is_loopback",
    title=Text(en="the server's own name leads to loopback", zh="主机名指向环回地址"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"address": "127.0.1.1"},
)
