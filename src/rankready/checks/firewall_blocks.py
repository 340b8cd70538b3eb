"""A server's firewall keeps the job's other servers out.

Means:
    A program that filters this server's traffic is active, and its rules do not let the other servers in on the ports
    that a job listens on: MASTER_PORT on node 0, and HCCL's ports (base to base+31) on every node.
Matters:
    Ranks wait for a connection that never comes: client socket timed out, EI0006, EI0015. Where packets are dropped
    silently, it takes minutes and names the wrong place. The NPUs' own traffic never passes the host's firewall.
Mend:
    `rankready firewall open` lets in these peers on these ports alone; `rankready firewall disable` switches the
    firewall off, as the vendor's guide does. `rankready firewall restore` puts back what stood before.
含义：
    该服务器上有生效的防火墙，其规则不放行其他服务器访问作业端口：0 号节点的 MASTER_PORT，以及每个节点的 HCCL
    端口（base 至 base+31）。
影响：
    各 rank 等不到连接：client socket timed out、EI0006、EI0015。若报文被静默丢弃，要等数分钟，且报错位置不准。
    NPU 自身的流量不经过主机防火墙。
修复：
    `rankready firewall open` 只对这些服务器放行这些端口；`rankready firewall disable` 按官方指南关闭防火墙；
    `rankready firewall restore` 恢复原状。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.host import Firewalld, Iptables, Nft, Ufw
from rankready.model.ports import EPHEMERAL, job_ports, peers
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Server
    from rankready.model.finding import Finding
    from rankready.model.observed.host import InputFilter
    from rankready.model.ports import PortRange
    from rankready.model.snapshot import Seen

    Filter = InputFilter | Firewalld

_SHOWN = 4  # peers named in one message


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield one finding for each filter of a server that keeps a peer out, or may do so."""
    for server in cluster.servers:
        for name, which in _filters(server, seen):
            yield from _judge(cluster, server, name, which)


def _filters(server: Server, seen: Seen) -> Iterator[tuple[str, Filter]]:
    ufw = seen.at(server.place, Ufw)
    if ufw is not None and ufw.active:
        yield from (("ufw", f) for f in ufw.filters)
    firewalld = seen.at(server.place, Firewalld)
    if firewalld is not None and firewalld.active:
        yield "firewalld", firewalld
    nft = seen.at(server.place, Nft)
    if nft is not None:
        yield from ((f.name, f) for f in nft.filters)
    iptables = seen.at(server.place, Iptables)
    if iptables is not None:
        yield from ((f.name, f) for f in iptables.filters)


def _judge(cluster: Cluster, server: Server, name: str, which: Filter) -> Iterator[Finding]:
    around = list(peers(cluster, server))
    if len(around) < len(cluster.servers) - 1:
        yield _nameless(server, name)
    needed = job_ports(cluster, server)
    shut = [(p, a) for p in needed for _, a in around if _through(which, a, p) is False]
    perhaps = [(p, a) for p in needed for _, a in around if _through(which, a, p) is None]
    if shut:
        yield _shut(server, name, shut)
    elif perhaps:
        yield _perhaps(server, name, perhaps)
    elif gloo := [a for _, a in around if which.admits(a, EPHEMERAL[0]) is False]:
        yield _ephemeral(server, name, gloo)


def _through(which: Filter, source: Address, ports: PortRange) -> bool | None:
    """Tell whether every port of a range is open to a source."""
    outcomes = {which.admits(source, port) for port in which.edges(ports.first, ports.last)}
    return False if False in outcomes else None if None in outcomes else True


def _shut(server: Server, name: str, shut: list[tuple[PortRange, Address]]) -> Finding:
    ports, sources = _listed(shut)
    return finding(
        CHECK.code,
        server.place,
        Text(
            en=f"{name} is active and does not let in {ports} (tcp) from {sources}",
            zh=f"{name} 已启用，未放行来自 {sources} 的 {ports}（tcp）",
        ),
        remedy="rankready firewall open",
    )


def _perhaps(server: Server, name: str, perhaps: list[tuple[PortRange, Address]]) -> Finding:
    ports, sources = _listed(perhaps)
    return finding(
        CHECK.code,
        server.place,
        Text(
            en=f"{name} has conditions that can't be judged from its rules for {ports} (tcp) from {sources}",
            zh=f"{name} 的规则带有无法判断的条件：来自 {sources} 的 {ports}（tcp）",
        ),
        remedy="rankready firewall status",
        severity=Severity.WARNING,
        certainty=Certainty.MAYBE,
    )


def _ephemeral(server: Server, name: str, sources: list[Address]) -> Finding:
    first, last = EPHEMERAL
    return finding(
        CHECK.code,
        server.place,
        Text(
            en=f"{name} lets the job's own ports in, but not {first}-{last} (tcp), where gloo groups listen",
            zh=f"{name} 已放行作业端口，但未放行 {first}-{last}（tcp），gloo 通信组在此范围内监听",
        ),
        remedy=Text(
            en=f"if the job makes a gloo group: rankready firewall open --gloo, for {len(sources)} peers",
            zh=f"若作业使用 gloo 通信组：rankready firewall open --gloo，对 {len(sources)} 个服务器放行",
        ),
        severity=Severity.NOTE,
    )


def _nameless(server: Server, name: str) -> Finding:
    return finding(
        CHECK.code,
        server.place,
        Text(
            en=f"{name} is active, and cluster.yaml does not tell every peer's address",
            zh=f"{name} 已启用，而 cluster.yaml 未给出所有服务器的地址",
        ),
        remedy=Text(
            en="add `address:` to each server in cluster.yaml", zh="在 cluster.yaml 中为每台服务器补上 `address:`"
        ),
        severity=Severity.WARNING,
        certainty=Certainty.MAYBE,
    )


def _listed(pairs: list[tuple[PortRange, Address]]) -> tuple[str, str]:
    ports = ", ".join(dict.fromkeys(str(p) for p, _ in pairs))
    sources = list(dict.fromkeys(str(a) for _, a in pairs))
    more = f" (+{len(sources) - _SHOWN})" if len(sources) > _SHOWN else ""
    return ports, ", ".join(sources[:_SHOWN]) + more


CHECK = Check(
    code="FWL001",
    name="firewall_blocks",
    title=Text(en="host firewalls let the job's servers in", zh="主机防火墙放行作业所用的服务器"),
    scope=Scope.SERVER,
    needs=(Ufw, Firewalld, Nft, Iptables),
    judge=judge,
)
