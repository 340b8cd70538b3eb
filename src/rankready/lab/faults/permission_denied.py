"""The tool refuses what only root may do: every set, and the TLS state (facts/hccn 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.lab.switches import open_in_cluster, turn
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place


def causes(_places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """TLS can't be compared; `apply` is told at every value."""
    return open_in_cluster("TLS001")


def _apply(world: World, places: tuple[Place, ...], _args: Mapping[str, str]) -> Memory:
    return turn(world, places[0], {"DENY": "1"})


def _undo(world: World, places: tuple[Place, ...], memory: Memory) -> None:
    turn(world, places[0], memory)


FAULT = Fault(
    kind="permission_denied",
    title=Text(en="the tool refuses what only root may do", zh="工具拒绝仅 root 可用的命令"),
    takes=(PlaceKind.DEVICE,),
    doors=(Door.ROOT, Door.ROOTLESS, Door.SIMULATED),
    causes=causes,
    apply=_apply,
    undo=_undo,
)
