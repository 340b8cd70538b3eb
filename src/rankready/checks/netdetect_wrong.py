"""A device probes another address than planned, or none.

Means:
    A device judges its own network by probing one address. This one probes something else than the plan says.
Matters:
    Its network health then speaks of the wrong path, or of none; training software that waits for it is misled.
Mend:
    `rankready plan` shows the change, `rankready apply` makes it.
含义：
    设备通过探测一个地址来判断自身网络。该设备探测的地址与规划不一致，或未设置。
影响：
    其网络健康状态描述的是错误的路径，或没有意义；依赖它的训练软件会被误导。
修复：
    `rankready plan` 显示变更，`rankready apply` 执行变更。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.observed.device import NetDetect
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device with a planned target that probes another one or none."""
    for device, planned in cluster.addressing.items():
        want = planned.netdetect
        if want is None:
            continue
        netdetect = seen.at(device, NetDetect)
        if netdetect is None and seen.unset(device, NetDetect):
            said = Text(en=f"no netdetect target is set, planned {want}", zh=f"未设置检测地址，规划为 {want}")
        elif netdetect is not None and netdetect.target != want:
            said = Text(
                en=f"the netdetect target is {netdetect.target}, planned {want}",
                zh=f"检测地址为 {netdetect.target}，规划为 {want}",
            )
        else:
            continue
        yield finding(CHECK.code, device, said, remedy="rankready plan")


CHECK = Check(
    code="NET007",
    name="netdetect_wrong",
    title=Text(en="netdetect targets are as planned", zh="检测地址与规划一致"),
    scope=Scope.DEVICE,
    needs=(NetDetect,),
    judge=judge,
)
