"""torchrun with a static rendezvous: one agent a node, which starts the node's ranks (facts/launch 5.1, 5.2).

Never c10d rendezvous: node ranks are unstable there and MASTER_PORT is random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.launcher import Launcher
from rankready.launchers._env import CLEARED, DEFAULTS, node_environment
from rankready.model.ranks import JOB_FOLDER, RankCommand
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.ranks import LaunchSpec, Node


def commands(spec: LaunchSpec, node: Node) -> tuple[RankCommand, ...]:
    """Return the node's agent."""
    options = {
        "nnodes": len(spec.nodes),
        "node_rank": node.node_rank,
        "nproc_per_node": node.nproc_per_node,
        "master_addr": spec.master_addr,
        "master_port": spec.master_port,
        "rdzv_conf": "timeout=600",  # else a node that never comes is waited for in silence for 1800 s
        "max_restarts": 0,
        "log_dir": f"{JOB_FOLDER}/train/torchrun",
        "tee": 3,
    }
    flags = tuple(f"--{name}={value}" for name, value in options.items())
    agent = RankCommand(
        rank=None,
        local_rank=0,
        argv=(spec.python, "-m", "torch.distributed.run", *flags, *spec.argv),
        env=node_environment(spec, node),
        unset=CLEARED,
        defaults=DEFAULTS,
    )
    return (agent,)


LAUNCHER = Launcher(
    name="torchrun",
    title=Text(en="torchrun, static rendezvous", zh="torchrun，静态 rendezvous"),
    commands=commands,
)
