"""Pause frames arrive on priority 3, which HCCL does not use: a switch maps its traffic there (facts/hccn 7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect, Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn
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
    """Two looks tell, while traffic flows."""
    return (Expect(verb="check", code="NET021", place=places[0], outcome=Outcome.WARN),)


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"GROW": args["counter"]})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="pauses_elsewhere",
    title=Text(en="pause frames arrive on another priority", zh="其他优先级上出现暂停帧"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"counter": "mac_rx_pfc_pri3_pkt_num"},
)
