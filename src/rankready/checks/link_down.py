"""A device's port is down or degraded.

Means:
    The device itself says that its port has no link, or only part of one. Nothing can pass there.
Matters:
    A job that uses this device cannot build its links: HCCL stops with EJ0002 or times out with EI0006.
Mend:
    Look at the optic and the cable at both ends, then at the switch port: it may be shut, or a 400GE port that serves
    two 200G devices may not be split. Then `rankready check --only NET001`.
含义：
    设备自身报告端口没有链路，或只有部分链路。该端口无法通信。
影响：
    使用该设备的任务无法建链：HCCL 报 EJ0002，或以 EI0006 超时。
修复：
    检查两端的光模块与线缆，再检查交换机端口：可能被关闭，或供两个 200G 设备使用的 400GE 端口没有拆分。
    之后执行 `rankready check --only NET001`。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.cluster import Topology
from rankready.model.finding import Severity
from rankready.model.observed.device import Link, LinkState
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="reseat or replace the optic and the cable, then look at the switch port (shut, or not split)",
    zh="重新插拔或更换光模块与线缆，再检查交换机端口（是否关闭、是否未拆分）",
)
_FIBRE = Text(
    en="reseat or replace the fibre and the optic at each of its two ends",
    zh="重新插拔或更换光纤及其两端的光模块",
)


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each port whose state is not UP."""
    remedy = _FIBRE if cluster.topology is Topology.DIRECT else _REMEDY
    for device, link in seen.each(Link):
        if link.state is LinkState.UP:
            continue
        yield finding(
            CHECK.code,
            device,
            Text(en=f"the port is {link.state}, planned UP", zh=f"端口状态为 {link.state}，规划为 UP"),
            remedy=remedy,
            severity=Severity.WARNING if link.state is LinkState.PARTIAL else Severity.ERROR,
        )


CHECK = Check(
    code="NET001",
    name="link_down",
    title=Text(en="ports are up", zh="端口已连通"),
    scope=Scope.DEVICE,
    needs=(Link,),
    judge=judge,
    after=("CAB004",),
)
