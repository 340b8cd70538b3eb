"""The server's driver words its answers as older ones do: no fault, another voice (facts/hccn 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.lab.switches import turn_all, turn_all_back
from rankready.model.place import PlaceKind, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place

OLD = {"ECHO": "0", "DETECT_LABEL": "addr", "TLS_LINE": "short", "DOWNCOUNT": "0", "IFACE": "0", "FEWER": "1"}


def causes(_places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing at all: every variant is read alike."""
    return ()


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn_all(world, _devices(places[0], world.spec), OLD)


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn_all_back(world, _devices(places[0], world.spec), memory)


def _devices(server: Place, spec: LabSpec) -> tuple[Place, ...]:
    return tuple(device_place(server.name, number) for number in range(spec.devices))


FAULT = Fault(
    kind="old_driver",
    title=Text(en="an older driver's words", zh="旧版驱动的输出格式"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
