"""The host ports that a job listens on, and who must reach them (facts/launch 4). The NPU side is not among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, JobDefaults, Server

HCCL_PORTS = 32  # base..base+31: every CANN version in use stays inside (facts/launch 4, consequence 1)
PORT_RANGE = "HCCL_HOST_SOCKET_PORT_RANGE"
BASE_PORT = "HCCL_IF_BASE_PORT"
_SPAN = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?", re.ASCII)
EPHEMERAL = (32768, 60999)  # Linux's default range; gloo listens somewhere in it


@dataclass(frozen=True, slots=True, kw_only=True)
class PortRange:
    """TCP ports ``first``..``last``."""

    first: int
    last: int

    def __str__(self) -> str:
        """``29500`` or ``60000-60031``."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def hccl_ports(job: JobDefaults) -> tuple[PortRange, ...]:
    """Return the host ports that HCCL takes: those of the job's own variables, else base to base+31 (facts/launch 4).

    HCCL_HOST_SOCKET_PORT_RANGE goes before a base port; ``auto`` there means any port that the system lends.
    """
    told = job.env.get(PORT_RANGE, "")
    if told == "auto":
        return (PortRange(first=EPHEMERAL[0], last=EPHEMERAL[1]),)
    spans = tuple(_SPAN.fullmatch(part) for part in told.split(",")) if told else ()
    if spans and None not in spans:
        return tuple(PortRange(first=int(s[1]), last=int(s[2] or s[1])) for s in spans if s is not None)
    own = job.env.get(BASE_PORT, "")
    base = int(own) if _SPAN.fullmatch(own) and own.isdecimal() else job.hccl_base_port
    return (PortRange(first=base, last=base + HCCL_PORTS - 1),)


def job_ports(cluster: Cluster, server: Server) -> tuple[PortRange, ...]:
    """Return what a job listens on at this server: MASTER_PORT on node 0, HCCL's ports everywhere."""
    hccl = hccl_ports(cluster.job)
    if server != cluster.nodes()[0]:
        return hccl
    return (PortRange(first=cluster.job.master_port, last=cluster.job.master_port), *hccl)


def host_address(server: Server) -> Address | None:
    """Return the address that other servers see this one by; None when the user's file does not tell."""
    if server.address is not None:
        return server.address
    try:
        found = ip_address(server.login.host)
    except ValueError:
        return None
    return None if found.is_loopback else found


def peers(cluster: Cluster, server: Server) -> Iterator[tuple[Server, Address]]:
    """Yield the other servers whose address is known, in cluster order."""
    for other in cluster.servers:
        address = host_address(other)
        if other != server and address is not None:
            yield other, address
