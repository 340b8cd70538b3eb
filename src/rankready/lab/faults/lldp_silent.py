"""The leaf sends no LLDP on a device's port, which works: the link is up and nothing is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault, both_verbs
from rankready.lab.spec import Door
from rankready.lab.switches import turn
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """The device hears nobody; where its cable ends follows from that."""
    return both_verbs("CAB001", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"LLDP": "silent"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="lldp_silent",
    title=Text(en="the switch port sends no LLDP", zh="交换机端口不发送 LLDP"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    topologies=("switch",),
)
