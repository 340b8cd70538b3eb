"""Faults of a server's SSH door: how they are made, mended, and what they must cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.gate import Gate
from rankready.lab.spec import Door
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place
    from rankready.model.text import Text


def gated(kind: str, title: Text, gate: Gate) -> Fault:
    """Make the fault in which one server's SSH answers as ``gate`` says, everything else as before."""

    def apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
        world.set_gate(places[0].name, gate)
        return {}

    return Fault(
        kind=kind,
        title=title,
        takes=(PlaceKind.SERVER,),
        doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
        causes=_causes,
        apply=apply,
        undo=_undo,
    )


def _causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing is known about the server: that is not a failure, it is not knowing."""
    return tuple(
        Expect(verb=verb, code="HST001", place=place, outcome=Outcome.UNKNOWN)
        for verb in ("check", "mesh")
        for place in places
    )


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.set_gate(places[0].name, Gate.OPEN)
