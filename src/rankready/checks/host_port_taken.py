"""Something listens on a port of HCCL's on a server.

Means:
    One of the TCP ports base to base+31 (60000 to 60031 unless cluster.yaml says otherwise) is in use there.
Matters:
    With a base port set, each device has one port and no other: HCCL ends with EI0019, `host nic listen start failed`.
    Usually it is a job that runs, or one that did not end.
Mend:
    End that job (`rankready ps`), or give this cluster another `job: hccl_base_port:`, 32 away from the other one.
含义：
    该服务器上 base 至 base+31（cluster.yaml 未另行指定时为 60000 至 60031）中的某个 TCP 端口已被占用。
影响：
    设置了基准端口后，每个设备只用固定的一个端口：HCCL 以 EI0019 失败，`host nic listen start failed`。
    通常是有任务在运行，或有任务未正常结束。
修复：
    结束该任务（`rankready ps`），或为本集群设置另一个 `job: hccl_base_port:`，与之相隔 32。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.host import Listening
from rankready.model.ports import PORT_RANGE, hccl_ports
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_SHOWN = 4


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield one finding for each server where something listens on a port that HCCL is to take."""
    planned = () if cluster.job.env.get(PORT_RANGE) == "auto" else hccl_ports(cluster.job)
    for server in cluster.servers:
        listening = seen.at(server.place, Listening)
        taken = [p for p in (listening.ports if listening else ()) if any(r.first <= p <= r.last for r in planned)]
        if not taken:
            continue
        more = f" (+{len(taken) - _SHOWN})" if len(taken) > _SHOWN else ""
        told = ", ".join(str(p) for p in taken[:_SHOWN]) + more
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"something listens on port {told}, planned free for HCCL", zh=f"端口 {told} 被占用，规划留给 HCCL"
            ),
            remedy="rankready ps",
            severity=Severity.WARNING,  # a job that runs holds them rightly; a start is ended by it
        )


CHECK = Check(
    code="JOB010",
    name="host_port_taken",
    title=Text(en="HCCL's host ports are free", zh="HCCL 的主机端口空闲"),
    scope=Scope.SERVER,
    needs=(Listening,),
    judge=judge,
    severity=Severity.WARNING,
)
