"""A server's own name resolves to an address that is not its own.

Means:
    On the server itself, its host name leads to an address that none of its interfaces carries: that of another server
    of the cluster (an error), or one that nobody here knows, as left by a move or a clone (a warning).
Matters:
    Programs that look up their own address this way announce somebody else's: their peers connect to the wrong server,
    or wait for one that does not exist.
Mend:
    Correct the line of this name in /etc/hosts, or its record on the name server.
含义：
    在服务器上，自身主机名解析到的地址不在自己的任何网卡上：是集群中另一台服务器的地址（错误），或无人认识的地址（迁移、
    克隆遗留，告警）。
影响：
    通过主机名查询自身地址的程序会公布他人的地址：对端连到错误的服务器，或等待不存在的服务器。
修复：
    更正 /etc/hosts 中该主机名的一行，或域名服务器上的记录。
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.host import HostAddress, HostNames
from rankready.model.ports import host_address
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server whose name leads elsewhere first; loopback is HST003's."""
    owners = {host_address(s): s.name for s in cluster.servers}
    for server in cluster.servers:
        names, held = seen.at(server.place, HostNames), seen.at(server.place, HostAddress)
        if names is None or held is None or not names.resolved:
            continue
        first = ip_address(names.resolved[0].partition("%")[0])
        if first.is_loopback or first in {address for _, address in held.addresses}:
            continue
        other = owners.get(first, "")
        whose = (
            (f", which is {other}'s", f"，那是 {other} 的地址")
            if other
            else (", which it does not carry", "，本机没有")
        )
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"its name {names.hostname!r} resolves to {first}{whose[0]}",
                zh=f"主机名 {names.hostname!r} 解析为 {first}{whose[1]}",
            ),
            remedy=Text(
                en=f"correct the line of {names.hostname} in /etc/hosts",
                zh=f"更正 /etc/hosts 中 {names.hostname} 的一行",
            ),
            severity=Severity.ERROR if other else Severity.WARNING,
        )


CHECK = Check(
    code="HST017",
    name="hostname_foreign",
    title=Text(en="host names lead to the server itself", zh="主机名解析到服务器自身"),
    scope=Scope.SERVER,
    needs=(HostNames, HostAddress),
    judge=judge,
)
