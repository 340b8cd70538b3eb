"""A server does not carry the address that cluster.yaml gives it.

Means:
    None of the server's interfaces has its cluster address. On node 0 this address is MASTER_ADDR.
Matters:
    Every rank connects to MASTER_ADDR, and HCCL listens at each server's address: nobody answers there, or another
    machine does. `client socket has timed out`, EI0006, EI0015.
Mend:
    Correct `address:` of that server in cluster.yaml, or give the server that address.
含义：
    服务器的所有网卡上都没有其集群地址。对 0 号节点，该地址就是 MASTER_ADDR。
影响：
    所有 rank 都连接 MASTER_ADDR，HCCL 也在各服务器的地址上监听：那里无人应答，或应答的是别的机器。
    `client socket has timed out`、EI0006、EI0015。
修复：
    修改 cluster.yaml 中该服务器的 `address:`，或为服务器配置该地址。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.observed.host import HostAddress
from rankready.model.ports import host_address
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each server whose planned address none of its interfaces has, or that every server has."""
    for number, server in enumerate(cluster.nodes()):
        fact, own = seen.at(server.place, HostAddress), server.address or host_address(server)
        if fact is not None and own is None:
            yield unsettled(server.place, *_NOT_SAID, skip=True)
        if fact is None or own is None or any(address == own for _, address in fact.addresses):
            continue
        if own.is_loopback and (cluster.simulated or len(cluster.servers) == 1):
            continue  # servers of one machine reach each other there
        carried = ", ".join(str(a) for _, a in fact.addresses if not a.is_loopback and not a.is_link_local) or "-"
        role = (", MASTER_ADDR of a job", "，即任务的 MASTER_ADDR") if number == 0 else ("", "")
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"its interfaces carry {carried}, planned {own}{role[0]}",
                zh=f"网卡地址为 {carried}，规划为 {own}{role[1]}",
            ),
            remedy=Text(en="correct address: in cluster.yaml", zh="修改 cluster.yaml 的 address:"),
        )


_NOT_SAID = "cluster.yaml gives it no address: inside the cluster", "cluster.yaml 未给出其集群地址 address:"

CHECK = Check(
    code="JOB012",
    name="cluster_address_foreign",
    title=Text(en="servers carry their cluster addresses", zh="服务器带有其集群地址"),
    scope=Scope.SERVER,
    needs=(HostAddress,),
    judge=judge,
)
