"""A server's own name resolves to its loopback address.

Means:
    On the server itself, its host name leads to 127.x or ::1. Many installers write that into /etc/hosts.
Matters:
    Programs that look up their own address this way tell their peers 127.x: rank tables name the wrong server, and
    gloo waits on loopback.
Mend:
    Let /etc/hosts give the name the server's address of the cluster network.
含义：
    在服务器上，自身主机名解析到 127.x 或 ::1。许多安装程序会这样写 /etc/hosts。
影响：
    通过主机名查询自身地址的程序会告诉对端 127.x：rank table 中的服务器有误，gloo 在环回上等待。
修复：
    在 /etc/hosts 中把主机名指向服务器的集群网络地址。
"""

from __future__ import annotations

from ipaddress import ip_address
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
    """Yield a warning for each server whose name leads to a loopback address first."""
    for server in cluster.servers:
        names = seen.at(server.place, HostNames)
        if names is None or not names.resolved or not _loopback(names.resolved[0]):
            continue
        if str(server.address) == names.resolved[0]:  # servers that share one machine talk over its loopback
            continue
        want = server.address or "its cluster address"
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"its name {names.hostname!r} resolves to {names.resolved[0]}, planned {want}",
                zh=f"主机名 {names.hostname!r} 解析为 {names.resolved[0]}，规划为 {server.address or '集群地址'}",
            ),
            remedy=Text(
                en=f"in /etc/hosts, give {names.hostname} the address {want}",
                zh=f"在 /etc/hosts 中把 {names.hostname} 指向 {server.address or '集群地址'}",
            ),
            severity=Severity.WARNING,
        )


def _loopback(text: str) -> bool:
    try:
        return ip_address(text).is_loopback
    except ValueError:
        return False


CHECK = Check(
    code="HST003",
    name="hostname_loopback",
    title=Text(en="host names do not lead to loopback", zh="主机名不解析到环回地址"),
    scope=Scope.SERVER,
    needs=(HostNames,),
    judge=judge,
    severity=Severity.WARNING,
)
