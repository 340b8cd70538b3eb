"""Who is which rank. torchrun's words, exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


JOB_FOLDER = "${RANKREADY_JOB_FOLDER}"  # the guard knows what it is on its server
OWN_NIC = "${RANKREADY_NIC}"  # the interface that carries the node's address; as a variable's whole value


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One server's share of a job: node_rank, its devices in local_rank order, its cluster address."""

    server: str
    node_rank: int
    address: str
    devices: tuple[int, ...]

    @property
    def nproc_per_node(self) -> int:
        """How many ranks this node starts: one per device."""
        return len(self.devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSpec:
    """A job before it starts. ``workdir`` is where script paths are resolved on every server."""

    job: str
    nodes: tuple[Node, ...]
    master_addr: str
    master_port: int
    argv: tuple[str, ...]  # script and its arguments
    python: str = "python3"
    workdir: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    nic: str = ""
    hccl_base_port: int | None = None
    setup: str = ""
    restart: int = 0  # how often this job was started before, of at most max_restarts
    max_restarts: int = 0

    @property
    def world_size(self) -> int:
        """How many ranks the job has."""
        return sum(n.nproc_per_node for n in self.nodes)

    def first_rank(self, node_rank: int) -> int:
        """The rank of a node's local_rank 0."""
        return sum(n.nproc_per_node for n in self.nodes[:node_rank])


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCommand:
    """One process that the guard starts on a server.

    ``defaults`` stand where the server's own environment says nothing, ``env`` wins over it. ``unset`` is cleared
    first; a name that ends in ``*`` is a prefix. ``JOB_FOLDER`` in a value or an argument becomes the job's folder;
    a variable whose value is ``OWN_NIC`` gets the interface's name, or is left out where the server has no such one.
    """

    rank: int | None  # None for an agent that starts several ranks itself (torchrun)
    local_rank: int
    argv: tuple[str, ...]
    env: Mapping[str, str]
    unset: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)

    @property
    def log(self) -> str:
        """Where its output goes, below the job's folder."""
        return "train/launcher.log" if self.rank is None else f"train/rank-{self.rank}.log"
