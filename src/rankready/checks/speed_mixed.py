"""Ports of devices run at different speeds.

Means:
    A device's port is up at another speed than most devices have. On a tie both speeds are named.
Matters:
    The job works, and every collective operation waits for the slowest port.
Mend:
    Look at the switch port that this device hangs on: its speed, a split that was made wrongly, an optic of another
    kind. The NPU side follows the switch.
含义：
    设备端口的速率与多数设备不同；两种速率各占一半时两者都会列出。
影响：
    任务可以运行，但所有集合通信都要等最慢的端口。
修复：
    检查该设备所接的交换机端口：速率、端口拆分、光模块型号。NPU 侧随交换机协商。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import mixed
from rankready.model.observed.device import Speed
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="network team: bring the switch port of this device to the speed of the others",
    zh="网络管理员：把该设备所接的交换机端口调整为与其他端口相同的速率",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each port of another speed; a port that is down has none."""
    speeds: dict[Place, int] = {}
    for device, fact in seen.each(Speed):
        if fact.mbit_s is None:
            yield unsettled(device, "the device does not know its own speed", "设备不知道自身端口速率")
        else:
            speeds[device] = fact.mbit_s
    for device, speed, others in mixed(speeds):
        most = ", ".join(map(str, others))
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"the port runs at {speed} Mbit/s, other devices at {most}",
                zh=f"端口速率为 {speed} Mbit/s，其他设备为 {most}",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="NET014",
    name="speed_mixed",
    title=Text(en="ports run at one speed", zh="端口速率一致"),
    scope=Scope.CLUSTER,
    needs=(Speed,),
    judge=judge,
    severity=Severity.WARNING,
    after=("NET001",),
)
