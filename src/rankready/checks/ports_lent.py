"""The system of a server may give HCCL's ports to any outgoing connection.

Means:
    The kernel takes ports for outgoing connections from a range that holds HCCL's host ports, and they are not among
    the reserved ones. Linux's own range does: 32768 to 60999.
Matters:
    Some day a connection of another program holds such a port when a job starts, and HCCL takes no other: EI0019.
Mend:
    `rankready firewall open` adds the range to `net.ipv4.ip_local_reserved_ports`, beside what stands there, until the
    next boot; /etc/sysctl.d keeps it for longer.
含义：
    内核为外出连接分配端口的范围包含 HCCL 的主机端口，且这些端口未被保留。Linux 的默认范围 32768 至 60999 即是如此。
影响：
    某次启动时这样的端口可能正被其他程序的连接占用，而 HCCL 不会改用别的端口：EI0019。
修复：
    `rankready firewall open` 把该范围并入 `net.ipv4.ip_local_reserved_ports` 并保留原有的值，重启前有效；写入
    /etc/sysctl.d 可长期保留。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.job_host import Cann, LocalPorts
from rankready.model.ports import PORT_RANGE, hccl_ports
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each server with a toolkit that lends one of HCCL's ports."""
    planned = () if cluster.job.env.get(PORT_RANGE) == "auto" else hccl_ports(cluster.job)
    told = ",".join(str(r) for r in planned)
    for server in cluster.servers:
        fact = seen.at(server.place, LocalPorts)
        if fact is None or seen.at(server.place, Cann) is None:
            continue
        if not any(fact.lends(port) for r in planned for port in range(r.first, r.last + 1)):
            continue
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"HCCL's ports {told} lie in {fact.first}-{fact.last} and are not all reserved",
                zh=f"HCCL 端口 {told} 位于 {fact.first}-{fact.last} 之内，且未全部保留",
            ),
            remedy=Text(
                en=f"rankready firewall open: it reserves {told} beside what is reserved already",
                zh=f"rankready firewall open：在保留原有值的同时保留 {told}",
            ),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="HST012",
    name="ports_lent",
    title=Text(en="HCCL's ports are nobody else's", zh="HCCL 端口不会被他人占用"),
    scope=Scope.SERVER,
    needs=(LocalPorts, Cann),
    judge=judge,
    severity=Severity.WARNING,
)
