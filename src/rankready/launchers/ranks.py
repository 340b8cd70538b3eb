"""One process a rank, started by the guard itself: no launcher of the framework's in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.launcher import Launcher
from rankready.launchers._env import CLEARED, DEFAULTS, rank_environment
from rankready.model.ranks import RankCommand
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.ranks import LaunchSpec, Node


def commands(spec: LaunchSpec, node: Node) -> tuple[RankCommand, ...]:
    """Return one process for each device of a node."""
    return tuple(
        RankCommand(
            rank=spec.first_rank(node.node_rank) + local_rank,
            local_rank=local_rank,
            argv=(spec.python, *spec.argv),
            env=rank_environment(spec, node, local_rank),
            unset=CLEARED,
            defaults=DEFAULTS,
        )
        for local_rank in range(node.nproc_per_node)
    )


LAUNCHER = Launcher(
    name="ranks",
    title=Text(en="one process a rank, started directly", zh="每个 rank 一个进程，直接启动"),
    commands=commands,
)
