"""The priority that a job's traffic uses is not lossless at a device.

Means:
    HCCL sends with a service level: HCCL_RDMA_SL, 4 unless it is set. Priority flow control (PFC) of this device is not
    on for that priority. `job: env:` of cluster.yaml wins over what the server's shell has, and that over 4.
Matters:
    A full network drops packets instead of pausing them. The job works, slower the more it sends; there is no error.
    Deployment tools set priority 3 by themselves, which is not HCCL's.
Mend:
    Let PFC of device and switch cover that priority, or set HCCL_RDMA_SL in `job: env:` to the one that they cover.
含义：
    HCCL 以服务等级 HCCL_RDMA_SL 发送，未设置时为 4；该设备没有对这一优先级开启 PFC。取值顺序：cluster.yaml 的
    `job: env:`，其次是服务器 shell 中的值，最后是 4。
影响：
    网络拥塞时丢包而不是暂停。任务可以运行，流量越大越慢，且没有任何报错。部署工具默认设置的是优先级 3，与 HCCL 不同。
修复：
    让设备与交换机的 PFC 覆盖该优先级，或在 `job: env:` 中把 HCCL_RDMA_SL 设为已覆盖的优先级。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.job_variables import number_in_force
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.observed.traffic import Pfc
from rankready.model.place import server_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_NAME = "HCCL_RDMA_SL"


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each device that may drop a job's packets; a value that HCCL refuses is JOB013's."""
    for device, pfc in seen.each(Pfc):
        shell = seen.at(server_place(device.name), JobEnvironment)
        level = None if shell is None else number_in_force(_NAME, cluster.job.env, shell.values)
        if level is None or level.value in pfc.priorities:
            continue
        en = ", ".join(map(str, pfc.priorities)) or "none"
        zh = "、".join(map(str, pfc.priorities)) or "无"
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"lossless priorities: {en}; a job sends with {_NAME} {level.value} ({level.source.en})",
                zh=f"无损优先级：{zh}；任务以 {_NAME} {level.value} 发送（{level.source.zh}）",
            ),
            remedy=Text(
                en=f"let PFC of device and switch cover priority {level.value}, or set {_NAME} in job: env:",
                zh=f"让设备与交换机的 PFC 覆盖优先级 {level.value}，或在 job: env: 中设置 {_NAME}",
            ),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="NET017",
    name="level_not_lossless",
    title=Text(en="a job's service level is lossless", zh="任务的服务等级为无损优先级"),
    scope=Scope.CLUSTER,
    needs=(Pfc, JobEnvironment),
    judge=judge,
    severity=Severity.WARNING,
)
