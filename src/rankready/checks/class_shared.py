"""A job's traffic shares its traffic class with everything else.

Means:
    HCCL marks packets with HCCL_RDMA_TC, 132 unless it is set: DSCP 33, a quarter of it. This device keeps traffic
    classes apart, yet puts that DSCP into the class of unmarked packets. `job: env:` of cluster.yaml wins over what the
    server's shell has, and that over 132.
Matters:
    The job's packets wait, and are dropped, with everybody else's: bandwidth falls without any error. Lossless
    templates of switches and tools mark DSCP 24 or 25, which is not what HCCL sends.
Mend:
    Map that DSCP to the lossless class on devices and switches, or set HCCL_RDMA_TC in `job: env:` to four times the
    DSCP that is mapped there.
含义：
    HCCL 以 HCCL_RDMA_TC 标记报文，未设置时为 132，即 DSCP 33（四分之一）。该设备区分流量类别，却把这一 DSCP 与未标记的
    报文放在同一类别。取值顺序：cluster.yaml 的 `job: env:`，其次是服务器 shell 中的值，最后是 132。
影响：
    任务的报文与其他流量一起排队、一起丢弃：带宽下降而没有任何报错。交换机与工具的无损模板通常使用 DSCP 24、25，并非
    HCCL 所用。
修复：
    在设备与交换机上把该 DSCP 映射到无损类别，或在 `job: env:` 中把 HCCL_RDMA_TC 设为已映射 DSCP 的四倍。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.job_variables import number_in_force
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.observed.traffic import DscpMap
from rankready.model.place import server_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_NAME = "HCCL_RDMA_TC"
_PER_DSCP = 4  # facts/launch 3.1: DSCP is the value divided by four


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each device that treats a job's DSCP like unmarked, unless it treats all alike."""
    for device, fact in seen.each(DscpMap):
        shell = seen.at(server_place(device.name), JobEnvironment)
        mark = None if shell is None else number_in_force(_NAME, cluster.job.env, shell.values)
        if mark is None or len(set(fact.classes)) == 1:
            continue
        dscp = mark.value // _PER_DSCP
        if fact.classes[dscp] != fact.classes[0]:
            continue
        kept = ", ".join(str(d) for d, kind in enumerate(fact.classes) if kind != fact.classes[0])
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"DSCP {dscp} is in the class of unmarked packets, a job sends with {_NAME} {mark.value} "
                f"({mark.source.en}); kept apart: {_short(kept)}",
                zh=f"DSCP {dscp} 与未标记报文同类，任务以 {_NAME} {mark.value} 发送（{mark.source.zh}）；"
                f"单独分类的有：{_short(kept)}",
            ),
            remedy=Text(
                en=f"map DSCP {dscp} to the lossless class on device and switch, or set {_NAME} in job: env:",
                zh=f"在设备与交换机上把 DSCP {dscp} 映射到无损类别，或在 job: env: 中设置 {_NAME}",
            ),
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
        )


def _short(text: str) -> str:
    most = 40
    return text if len(text) <= most else text[:most].rpartition(",")[0] + ", …"


CHECK = Check(
    code="NET019",
    name="class_shared",
    title=Text(en="a job's packets have a class of their own", zh="任务报文有单独的流量类别"),
    scope=Scope.CLUSTER,
    needs=(DscpMap, JobEnvironment),
    judge=judge,
    severity=Severity.WARNING,
)
