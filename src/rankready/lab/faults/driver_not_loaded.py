"""npu-smi can't open the driver: not loaded, or held by a container (facts/hccn 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.lab.switches import open_in_check, turn_all, turn_all_back
from rankready.model.place import PlaceKind, cluster_place, device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Chips, their health and their versions are not known."""
    return (*open_in_check(places[0], "HST002", "HST004"), *open_in_check(cluster_place("lab"), "VER001"))


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    return turn_all(world, _devices(places[0], world.spec), {"DCMI": args["code"]})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn_all_back(world, _devices(places[0], world.spec), memory)


def _devices(server: Place, spec: LabSpec) -> tuple[Place, ...]:
    return tuple(device_place(server.name, number) for number in range(spec.devices))


FAULT = Fault(
    kind="driver_not_loaded",
    title=Text(en="npu-smi can't use the driver", zh="npu-smi 无法使用驱动"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"code": "8005"},
)
