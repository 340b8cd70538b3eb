"""MindSpore's msrun, joined: without ``--join=True`` it returns 0 at once and leaves its workers (facts/launch 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.launcher import Launcher
from rankready.launchers._env import CLEARED, DEFAULTS, node_environment
from rankready.model.errors import PlanError
from rankready.model.ranks import JOB_FOLDER, RankCommand
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.ranks import LaunchSpec, Node


def commands(spec: LaunchSpec, node: Node) -> tuple[RankCommand, ...]:
    """Return the node's msrun; raises PlanError where nodes differ in size: its rank is node_rank x local count + i."""
    counts = {n.nproc_per_node for n in spec.nodes}
    if len(counts) > 1:
        raise PlanError(f"msrun needs the same number of processes on every node, not {sorted(counts)}")
    options = {
        "worker_num": spec.world_size,
        "local_worker_num": node.nproc_per_node,
        "master_addr": spec.master_addr,
        "master_port": spec.master_port,
        "node_rank": node.node_rank,
        "join": True,
        "cluster_time_out": 600,
        "log_dir": f"{JOB_FOLDER}/train/msrun",
    }
    flags = tuple(f"--{name}={value}" for name, value in options.items())
    agent = RankCommand(
        rank=None,
        local_rank=0,
        argv=("msrun", *flags, *spec.argv),
        env=node_environment(spec, node),
        unset=CLEARED,
        defaults=DEFAULTS,
    )
    return (agent,)


LAUNCHER = Launcher(name="msrun", title=Text(en="MindSpore's msrun", zh="MindSpore 的 msrun"), commands=commands)
