"""The environment of a job's processes: what every launcher sets and clears (facts/launch 3, 5.2, 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.ranks import JOB_FOLDER, OWN_NIC

if TYPE_CHECKING:
    from rankready.model.ranks import LaunchSpec, Node

# what schedulers, other launchers and earlier jobs leave behind, with other meanings (facts/launch 5.2, 5.4)
CLEARED = (
    "RANK",
    "RANK_*",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "NODE_RANK",
    "GROUP_RANK",
    "GROUP_WORLD_SIZE",
    "ROLE_*",
    "MASTER_*",
    "DEVICE_ID",
    "ASCEND_DEVICE_ID",
    "CM_*",
    "MS_*",
    "TORCHELASTIC_*",
)

DEFAULTS = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def node_environment(spec: LaunchSpec, node: Node) -> dict[str, str]:
    """Return what all processes of one node get; the user's own ``spec.env`` comes last and wins.

    HCCL_CONNECT_TIMEOUT is raised because it must be equal everywhere and 120 s is too short for a slow node
    (facts/launch 0.7); it stays below HCCL_EXEC_TIMEOUT's 1836. HCCL_IF_IP wins over every interface name, so names
    may differ between nodes. gloo and the tensor pipe know no address: they get the name of the interface that
    carries it, or they would listen at what the own host name resolves to, which is 127.0.1.1 on many (facts/launch 2).
    """
    return {**_hccl(spec, node), **_interfaces(spec), **spec.env}


def rank_environment(spec: LaunchSpec, node: Node, local_rank: int) -> dict[str, str]:
    """Return the environment of one rank, in torchrun's words (facts/launch 5.2).

    Not TORCHELASTIC_USE_AGENT_STORE: with it rank 0 would not listen on the master port, and no agent does here.
    """
    rank = str(spec.first_rank(node.node_rank) + local_rank)
    return {
        "RANK": rank,
        "LOCAL_RANK": str(local_rank),
        "WORLD_SIZE": str(spec.world_size),
        "LOCAL_WORLD_SIZE": str(node.nproc_per_node),
        "NODE_RANK": str(node.node_rank),
        "GROUP_RANK": str(node.node_rank),
        "GROUP_WORLD_SIZE": str(len(spec.nodes)),
        "ROLE_NAME": "default",
        "ROLE_RANK": rank,
        "ROLE_WORLD_SIZE": str(spec.world_size),
        "MASTER_ADDR": spec.master_addr,
        "MASTER_PORT": str(spec.master_port),
        "TORCHELASTIC_RUN_ID": spec.job,
        "TORCHELASTIC_RESTART_COUNT": str(spec.restart),
        "TORCHELASTIC_MAX_RESTARTS": str(spec.max_restarts),
        **node_environment(spec, node),
    }


def _hccl(spec: LaunchSpec, node: Node) -> dict[str, str]:
    env = {
        # ascending, no blanks: "1, 2,3" would be read as 1 alone; LOCAL_RANK counts within this list (facts/launch 3.2)
        "ASCEND_RT_VISIBLE_DEVICES": ",".join(str(d) for d in node.devices),
        "ASCEND_PROCESS_LOG_PATH": f"{JOB_FOLDER}/ascend/log",
        "HCCL_IF_IP": node.address,
        "HCCL_SOCKET_FAMILY": "AF_INET6" if ":" in node.address else "AF_INET",
        "HCCL_WHITELIST_DISABLE": "1",
        "HCCL_CONNECT_TIMEOUT": "1200",
    }
    if spec.hccl_base_port is not None:
        env["HCCL_IF_BASE_PORT"] = str(spec.hccl_base_port)
    return env


def _interfaces(spec: LaunchSpec) -> dict[str, str]:
    return dict.fromkeys(("HCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"), spec.nic or OWN_NIC)
