"""The device's network uses TLS, unlike the others (facts/hccn 13, row 22)."""

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
    """It is the odd one out."""
    return both_verbs("TLS001", *places)


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"TLS": "1"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="tls_on",
    title=Text(en="TLS is on at one device", zh="单个设备开启了 TLS"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
