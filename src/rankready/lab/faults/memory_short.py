"""The server has little memory: the kernel kills what takes more, and says so in its log (facts/logs 2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Fault
from rankready.lab.spec import Door
from rankready.model.errors import LabError
from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Expect, Memory
    from rankready.lab.spec import LabSpec
    from rankready.lab.world import World
    from rankready.model.place import Place

LEAST_MB = 16


def causes(_places: tuple[Place, ...], _spec: LabSpec) -> tuple[Expect, ...]:
    """Nothing in a look: only a job that takes more shows it."""
    return ()


def _apply(world: World, places: tuple[Place, ...], args: Mapping[str, str]) -> Memory:
    if not args["mb"].isdecimal() or int(args["mb"]) < LEAST_MB:
        raise LabError(
            f"mb={args['mb']}: expected a number of MiB, {LEAST_MB} or more",
            zh=f"mb={args['mb']}：应为 MiB 数，不小于 {LEAST_MB}",
        )
    world.set_memory(places[0].name, int(args["mb"]))
    return {}


def _undo(world: World, places: tuple[Place, ...], _memory: Memory) -> None:
    world.set_memory(places[0].name, None)


FAULT = Fault(
    kind="memory_short",
    title=Text(en="the server has little memory", zh="服务器内存很小"),
    takes=(PlaceKind.SERVER,),
    doors=(Door.ROOT,),
    causes=causes,
    apply=_apply,
    undo=_undo,
    options={"mb": "256"},
)
