"""Devices map DSCP values to traffic classes in different ways.

Means:
    The DSCP map of this device is not that of most devices. On a tie both sides differ, and each is told.
Matters:
    Packets of one job are put into different queues at different devices: some wait behind other traffic, some do not.
    Bandwidth falls without any error.
Mend:
    Set the same map on all devices; what matters most is the DSCP that a job uses, HCCL_RDMA_TC divided by four.
含义：
    该设备的 DSCP 到流量类别的映射与多数设备不同；各占一半时双方都会列出。
影响：
    同一任务的报文在不同设备上进入不同队列，带宽下降而没有任何报错。
修复：
    在所有设备上设为相同的映射；最重要的是任务使用的 DSCP，即 HCCL_RDMA_TC 除以 4。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import mixed
from rankready.model.observed.traffic import DscpMap
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_SHOWN = 3
_REMEDY = Text(
    en="set the DSCP map of this device like that of the others, while no job runs",
    zh="在没有任务运行时把该设备的 DSCP 映射设为与其他设备一致",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each device whose map is not that of most, with the values that differ."""
    for device, own, others in mixed({device: fact.classes for device, fact in seen.each(DscpMap)}):
        differences = _differences(own, others[0])
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"its DSCP map differs from other devices: {', '.join(d.en for d in differences)}",
                zh=f"DSCP 映射与其他设备不同：{'，'.join(d.zh for d in differences)}",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )


def _differences(own: Sequence[int], other: Sequence[int]) -> list[Text]:
    pairs = [(dscp, a, b) for dscp, (a, b) in enumerate(zip(own, other, strict=False)) if a != b]
    told = [
        Text(en=f"DSCP {dscp} in class {a}, there {b}", zh=f"DSCP {dscp} 为类别 {a}，其他为 {b}")
        for dscp, a, b in pairs[:_SHOWN]
    ]
    more = len(pairs) - _SHOWN
    return [*told, Text(en=f"{more} more", zh=f"另有 {more} 处")] if more > 0 else told


CHECK = Check(
    code="NET018",
    name="dscp_mixed",
    title=Text(en="devices map DSCP values alike", zh="设备的 DSCP 映射一致"),
    scope=Scope.CLUSTER,
    needs=(DscpMap,),
    judge=judge,
    severity=Severity.WARNING,
)
