"""The system of node 0 may give MASTER_PORT to any outgoing connection.

Means:
    The job's master port lies in the range from which the kernel takes ports for outgoing connections, and is not
    reserved there.
Matters:
    Some day a connection of another program holds it when a job starts: EADDRINUSE, on one start in many.
Mend:
    Choose a port below that range (`job: master_port:`), or reserve it.
含义：
    任务的主端口位于内核为外出连接分配端口的范围内，且未被保留。
影响：
    某次启动时它可能正被其他程序的连接占用：EADDRINUSE，且只偶尔出现。
修复：
    选用低于该范围的端口（`job: master_port:`），或将其保留。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.job_host import LocalPorts
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning when node 0 lends MASTER_PORT to others."""
    port, first = cluster.job.master_port, cluster.nodes()[0]
    fact = seen.at(first.place, LocalPorts)
    if fact is not None and fact.lends(port):
        yield finding(
            CHECK.code,
            first.place,
            Text(
                en=f"MASTER_PORT {port} lies in {fact.first}-{fact.last}, from which outgoing connections are served",
                zh=f"MASTER_PORT {port} 位于外出连接使用的 {fact.first}-{fact.last} 之内",
            ),
            remedy=Text(
                en=f"set job: master_port: below {fact.first} in cluster.yaml, or --master-port",
                zh=f"把 cluster.yaml 的 job: master_port: 或 --master-port 设为小于 {fact.first} 的值",
            ),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="JOB018",
    name="master_port_lent",
    title=Text(en="MASTER_PORT is nobody else's", zh="MASTER_PORT 不会被他人占用"),
    scope=Scope.SERVER,
    needs=(LocalPorts,),
    judge=judge,
    severity=Severity.WARNING,
)
