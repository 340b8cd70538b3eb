"""From what the user asked for to a job's specification: who is which rank, on which devices, from which folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.launchers._env import node_environment
from rankready.model.errors import PlanError
from rankready.model.job_variables import LAST_BASE_PORT, LAUNCHERS_OWN, clashes, fault
from rankready.model.ranks import LaunchSpec, Node
from rankready.plan.devices import pick_devices
from rankready.runs.observe import product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.cluster import Cluster, Server
    from rankready.model.ranks import RankCommand
    from rankready.runs.guard_file import GuardTimes

PER_PROCESS = (*LAUNCHERS_OWN, "ROLE_RANK", "MASTER_ADDR", "MASTER_PORT")  # ours alone: two owners would contradict
VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
TAGS = ("RANKREADY_", "SPT_NOENV")  # what a stop finds the job's processes by
# HCCL takes base + device id, at most 15, of the 32 ports that are reserved and opened (facts/launch 3.1, 4)
LINK_OFFSET = 31
BASE_PORT = 60000
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line says of a job; None and empty stand for the inventory's defaults."""

    argv: tuple[str, ...]  # script and its arguments
    count: int | None = None  # processes on each server
    devices: tuple[int, ...] = ()
    launcher: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    master_port: int | None = None
    python: str = ""
    workdir: str = ""
    extra_paths: tuple[Path, ...] = ()  # synced beside the script
    sync: bool = True

    @property
    def script(self) -> Path | None:
        """The script as a file here, which is brought to every server; None: it is there already."""
        path = Path(self.argv[0])
        return path if self.sync and path.is_file() else None


def job_spec(cluster: Cluster, asked: Asked, job: str) -> LaunchSpec:
    """Return the specification; raises PlanError for devices, ports or names that can't work."""
    servers = cluster.nodes()
    wanted = _visible(cluster, asked) or asked.devices or asked.count or min(len(s.devices) for s in servers)
    picked = pick_devices(product(cluster), wanted)
    nodes = tuple(_node(server, rank, picked) for rank, server in enumerate(servers))
    if bad := [name for name in asked.env if _NAME.fullmatch(name) is None]:
        raise PlanError(f"{bad[0]!r} is no name of a variable")
    if cluster.job.hccl_base_port > LAST_BASE_PORT:
        raise PlanError(f"hccl_base_port {cluster.job.hccl_base_port}: the last that leaves room is {LAST_BASE_PORT}")
    script = asked.script
    spec = LaunchSpec(
        job=job,
        nodes=nodes,
        master_addr=nodes[0].address,
        master_port=asked.master_port or cluster.job.master_port,
        argv=asked.argv if script is None else (script.name, *asked.argv[1:]),
        python=asked.python or cluster.job.python,
        workdir=asked.workdir or ("~" if script is None else f"~/.rankready/work/{cluster.name}"),
        env={**cluster.job.env, **asked.env},
        nic=cluster.job.nic,
        hccl_base_port=cluster.job.hccl_base_port,
        setup=cluster.job.setup,
    )
    _refuse_variables(cluster, spec)
    return spec


def _visible(cluster: Cluster, asked: Asked) -> tuple[int, ...]:
    """Return the devices that the user's own ASCEND_RT_VISIBLE_DEVICES leaves: local rank i is on the i-th of them."""
    value = {**cluster.job.env, **asked.env}.get(VISIBLE, "")
    if not value or fault(VISIBLE, value, cluster.generation) is not None:
        return ()
    ids = tuple(int(word) for word in value.split(","))
    if asked.devices and asked.devices != ids:
        told = ",".join(str(d) for d in asked.devices)
        raise PlanError(f"{VISIBLE}={value}: --devices says {told}; one of the two is enough")
    count = len(asked.devices) or asked.count or min(len(s.devices) for s in cluster.nodes())
    return ids[:count] if count <= len(ids) else ()


def _refuse_variables(cluster: Cluster, spec: LaunchSpec) -> None:
    """Raise PlanError for a variable that HCCL would refuse or misread, or that is not the user's to set."""
    for name, value in spec.env.items():
        if name in PER_PROCESS or (name == "HCCL_IF_IP" and len(spec.nodes) > 1):
            raise PlanError(f"{name}={value}: set for each process by rankready; one value for all can't be right")
        if name.startswith(TAGS):
            raise PlanError(f"{name}={value}: by this variable rankready finds the job's processes")
        if (wrong := fault(name, value, cluster.generation)) is not None:
            raise PlanError(f"{name}: {wrong.en}\n{name}：{wrong.zh}")
    visible = spec.env.get(VISIBLE, "")
    if visible and len(visible.split(",")) < max(n.nproc_per_node for n in spec.nodes):
        raise PlanError(f"{VISIBLE}={visible}: fewer devices than processes on a server")
    for node in spec.nodes[:1]:
        for _, told in clashes(node_environment(spec, node)):
            raise PlanError(f"{told.en}\n{told.zh}")


def _node(server: Server, node_rank: int, picked: tuple[int, ...]) -> Node:
    if missing := sorted(set(picked) - set(server.devices)):
        raise PlanError(f"{server.name} has no device {missing[0]}")
    return Node(server=server.name, node_rank=node_rank, address=_address(server), devices=picked)


def _address(server: Server) -> str:
    """Return the address that servers use among themselves: what the inventory says, else a numeric SSH address."""
    if server.address is not None:
        return str(server.address)
    try:
        return str(ip_address(server.login.host))
    except ValueError:
        raise PlanError(
            f"{server.name}: no address inside the cluster is known; add address: to it in cluster.yaml"
        ) from None


def link_port(spec: LaunchSpec) -> int:
    """Return the port by which the guards tell each other: the last of the job's own range, which no rank uses."""
    own = spec.env.get("HCCL_IF_BASE_PORT", "")
    return (int(own) if own.isdecimal() else spec.hccl_base_port or BASE_PORT) + LINK_OFFSET


def peers_spec(spec: LaunchSpec, node: Node, times: GuardTimes, key: str) -> dict[str, Any] | None:
    """Return how a guard finds the others of a job that is to stay alone; None where there are none.

    ``hub``: node 0's name, empty for node 0 itself. ``key``: what only this job's guards know.
    """
    if not times.start_s or len(spec.nodes) == 1:
        return None
    first = spec.nodes[0]
    return {
        "node": node.server,
        "hub": "" if node == first else first.server,
        "address": first.address,
        "port": link_port(spec),
        "key": key,
        "lost_s": times.silence_s,
    }


def guard_spec(spec: LaunchSpec, node: Node, commands: tuple[RankCommand, ...], times: GuardTimes) -> dict[str, Any]:
    """Return what a server's guard is told."""
    return {
        "job": spec.job,
        "address": node.address,
        "master_port": spec.master_port,
        "nproc": node.nproc_per_node,
        "workdir": spec.workdir,
        "setup": spec.setup,
        "folders": ["train", "ascend/log"],
        "lease_s": times.lease_s,
        "start_s": times.start_s,
        "grace_s": times.grace_s,
        "fail_hold_s": times.fail_hold_s,
        "log_limit": times.log_limit,
        "ranks": [
            {
                "rank": c.rank,
                "local_rank": c.local_rank,
                "argv": list(c.argv),
                "env": dict(c.env),
                "defaults": dict(c.defaults),
                "unset": list(c.unset),
                "log": c.log,
            }
            for c in commands
        ],
    }
