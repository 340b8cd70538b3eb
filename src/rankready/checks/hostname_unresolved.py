"""A server's own name resolves to no address at all.

Means:
    On the server itself, its host name leads nowhere: neither /etc/hosts nor a name server knows it.
Matters:
    Programs that look up their own address this way fall back to loopback, or stop: gloo and rank table generators do.
    Lookups that fail slowly delay every start.
Mend:
    Let /etc/hosts give the name the server's address of the cluster network.
含义：
    在服务器上，自身主机名解析不到任何地址：/etc/hosts 与域名服务器都没有它。
影响：
    通过主机名查询自身地址的程序会退回环回地址或直接失败（gloo、rank table 生成脚本）；解析超时还会拖慢每次启动。
修复：
    在 /etc/hosts 中把主机名指向服务器的集群网络地址。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.host import HostNames
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each server whose name leads nowhere."""
    for server in cluster.servers:
        names = seen.at(server.place, HostNames)
        if names is None or names.resolved:
            continue
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"its name {names.hostname!r} resolves to no address, planned {server.address or 'one of its own'}",
                zh=f"主机名 {names.hostname!r} 解析不到任何地址，规划为 {server.address or '集群地址'}",
            ),
            remedy=Text(
                en=f"in /etc/hosts, give {names.hostname} the address {server.address or 'of the cluster network'}",
                zh=f"在 /etc/hosts 中把 {names.hostname} 指向 {server.address or '集群地址'}",
            ),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="HST016",
    name="hostname_unresolved",
    title=Text(en="host names resolve", zh="主机名可以解析"),
    scope=Scope.SERVER,
    needs=(HostNames,),
    judge=judge,
    severity=Severity.WARNING,
)
