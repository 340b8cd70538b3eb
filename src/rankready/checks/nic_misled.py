"""A job would take another network interface of a server than the one that leads to its peers.

Means:
    Either `job: nic:` names an interface that the server does not have, or that does not carry its cluster address; or
    nothing is named, and the interface that comes first by HCCL's rule is another one. The rule: names in sorted order,
    ordinary ones before docker*, those before lo. A bridge such as br-1a2b is ordinary and sorts before eth0.
Matters:
    `rankready run` gives HCCL each server's address, so that HCCL is not misled. Gloo groups, and jobs started by other
    means, connect to an address that peers can't reach: EI0006, EI0015, connectFullMesh failed.
Mend:
    Set `job: nic:` in cluster.yaml to the interface with the cluster address, or correct it.
含义：
    `job: nic:` 指定的网卡在该服务器上不存在或未配置其集群地址；或者未指定，而按 HCCL 规则排在最前的是另一块网卡。
    规则：按名称排序，普通网卡先于 docker*，docker* 先于 lo。br-1a2b 这类网桥算普通网卡，且排在 eth0 之前。
影响：
    `rankready run` 会向 HCCL 指定每台服务器的地址，因此 HCCL 不受影响。gloo 通信组以及以其他方式启动的任务会连接到
    对端不可达的地址：EI0006、EI0015、connectFullMesh failed。
修复：
    在 cluster.yaml 中把 `job: nic:` 设为带有集群地址的网卡，或予以更正。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.host import HostAddress
from rankready.model.ports import host_address
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Server
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_LAST_RESORTS = ("docker", "lo")
_IPV4 = 4


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each server with a wrong named interface, a warning for one with a wrong first choice."""
    for server in cluster.servers:
        fact, own = seen.at(server.place, HostAddress), host_address(server)
        if fact is None:
            continue
        carrier = next((name for name, address in fact.addresses if address == own), "")
        if cluster.job.nic:
            yield from _named(server, cluster.job.nic, fact, own)
        elif own is None:
            yield unsettled(server.place, *_NOT_SAID, skip=True)
        elif carrier and (first := first_choice(fact)) not in ("", carrier):
            yield _misled(server, first, carrier)


def first_choice(fact: HostAddress) -> str:
    """Return the interface that HCCL takes by itself; empty when none has an address (facts/launch 2)."""

    def order(name: str) -> tuple[int, str]:
        return next((n for n, p in enumerate(_LAST_RESORTS, start=1) if name.startswith(p)), 0), name

    names = {name for name, address in fact.addresses if address.version == _IPV4}
    return min(names or {name for name, _ in fact.addresses}, key=order, default="")


def _named(server: Server, nic: str, fact: HostAddress, own: Address | None) -> Iterator[Finding]:
    held = [address for name, address in fact.addresses if name == nic]
    if held and (own is None or own in held):
        return
    names = ", ".join(dict.fromkeys(name for name, _ in fact.addresses))
    carried = ", ".join(str(a) for a in held)
    told = (
        Text(en=f"interface {nic} carries {carried}, planned {own}", zh=f"网卡 {nic} 的地址为 {carried}，规划为 {own}")
        if held
        else Text(en=f"no interface {nic}, there are {names}", zh=f"没有网卡 {nic}，现有 {names}")
    )
    yield finding(
        CHECK.code,
        server.place,
        told,
        remedy=Text(en="correct job: nic: in cluster.yaml", zh="修改 cluster.yaml 的 job: nic:"),
    )


def _misled(server: Server, first: str, carrier: str) -> Finding:
    return finding(
        CHECK.code,
        server.place,
        Text(
            en=f"the first interface by name is {first}, the cluster address is on {carrier}",
            zh=f"按名称排在最前的网卡是 {first}，集群地址在 {carrier} 上",
        ),
        remedy=Text(en=f"set job: nic: {carrier} in cluster.yaml", zh=f"在 cluster.yaml 中设置 job: nic: {carrier}"),
        severity=Severity.WARNING,
        certainty=Certainty.LIKELY,
    )


_NOT_SAID = "cluster.yaml gives it no address: inside the cluster", "cluster.yaml 未给出其集群地址 address:"

CHECK = Check(
    code="JOB011",
    name="nic_misled",
    title=Text(en="jobs take the interface that leads to their peers", zh="任务使用通往其他服务器的网卡"),
    scope=Scope.SERVER,
    needs=(HostAddress,),
    judge=judge,
    after=("JOB012",),
)
