"""The file can't be written: the device changes, and its next reset undoes that (facts/hccn 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Only who changes something sees it."""
    return (Expect(verb="apply", code="NET006", place=places[0]),)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"CONF": "readonly"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="conf_readonly",
    title=Text(en="/etc/hccn.conf can't be written", zh="/etc/hccn.conf 不可写"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
