"""A device is paused, or pauses others, on a priority that a job does not use.

Means:
    Two readings of a device's counters, a second or more apart, show pause frames (PFC) on a priority other than
    HCCL_RDMA_SL. `job: env:` of cluster.yaml wins over what the server's shell has, and that over 4. Traffic reaches
    the wrong queue somewhere: at the device, or on a switch. Only a cluster that carries traffic shows it.
Matters:
    The queue that is paused is not the one that was made lossless for the job: packets of the job are dropped when the
    network is full, and bandwidth falls without any error.
Mend:
    Compare the map of DSCP and priorities on the device (NET016 to NET019) with that of the switch port it hangs on.
含义：
    两次读取设备计数器（相隔一秒或更久），发现在 HCCL_RDMA_SL 以外的优先级上出现暂停帧（PFC）。cluster.yaml 的
    `job: env:` 优先于服务器 shell 中的值，后者优先于 4。说明流量在设备或交换机上进入了错误的队列。有流量时才能看到。
影响：
    被暂停的队列不是为任务设置的无损队列：网络拥塞时任务报文被丢弃，带宽下降而没有任何报错。
修复：
    对比设备的 DSCP 与优先级映射（NET016 至 NET019）与所接交换机端口的映射。
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.job_variables import number_in_force
from rankready.model.observed.device import Counters, CountersAgain
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.place import server_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_PAUSES: Final = {f"mac_{way}_pfc_pri{n}_pkt_num": n for n in range(8) for way in ("rx", "tx")}  # facts/hccn 7.6
_LEVEL: Final = "HCCL_RDMA_SL"
_FEWER = Text(en="this driver does not count the pause frames of each priority", zh="该驱动未按优先级统计暂停帧")
_REMEDY = Text(
    en="network team: compare the priority map of this device's switch port with the device; "
    "rankready check --only NET016,NET017,NET018,NET019",
    zh="网络管理员：对比该设备所接交换机端口与设备的优先级映射；rankready check --only NET016,NET017,NET018,NET019",
)


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each device with new pause frames on another priority; a counter that fell says nothing."""
    for device, again in seen.each(CountersAgain):
        first, shell = seen.at(device, Counters), seen.at(server_place(device.name), JobEnvironment)
        level = None if shell is None else number_in_force(_LEVEL, cluster.job.env, shell.values)
        if first is None or level is None:
            continue
        before, after = dict(first.values), dict(again.values)
        common = [name for name in _PAUSES if name in before and name in after]
        others = [name for name in common if _PAUSES[name] != level.value]
        grown = {name: after[name] - before[name] for name in others if after[name] > before[name]}
        if not grown:
            if len(common) < len(_PAUSES):
                yield unsettled(device, _FEWER.en, _FEWER.zh, skip=True)
            continue
        told = ", ".join(f"{name} +{many}" for name, many in grown.items())
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"pause frames on another priority while we looked: {told}; "
                f"a job sends with {_LEVEL} {level.value} ({level.source.en})",
                zh=f"检查期间其他优先级上出现暂停帧：{told}；任务以 {_LEVEL} {level.value} 发送（{level.source.zh}）",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
        )


CHECK = Check(
    code="NET021",
    name="pauses_elsewhere",
    title=Text(en="pause frames are those of a job's priority", zh="暂停帧只出现在任务使用的优先级上"),
    scope=Scope.CLUSTER,
    needs=(Counters, CountersAgain, JobEnvironment),
    judge=judge,
    severity=Severity.WARNING,
)
