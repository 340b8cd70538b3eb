"""A chip does not call itself healthy.

Means:
    The server's device list gives this chip another health than OK.
Matters:
    Warning may only repeat a port that is down; Alarm and Critical mean that the chip should carry no job.
Mend:
    Read the chip's error codes, look them up, and reset or replace it as they say.
含义：
    服务器的设备列表中，该芯片的健康状态不是 OK。
影响：
    Warning 可能只是端口断开的反映；Alarm 与 Critical 表示该芯片不应承载任务。
修复：
    读取芯片错误码并查阅含义，按说明复位或更换。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.host import Chips
from rankready.model.place import device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_GRAVE = ("alarm", "critical")


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each chip whose health is told and is not OK."""
    for server, chips in seen.each(Chips):
        for chip in chips.chips:
            if not chip.health:
                said = (
                    f"NPU {chip.npu} chip {chip.chip} reports no health",
                    f"NPU {chip.npu} 芯片 {chip.chip} 未报告健康状态",
                )
                yield unsettled(server, *said)
            if chip.health.lower() in ("", "ok"):
                continue
            place = server if chip.physical is None else device_place(server.name, chip.physical)
            yield finding(
                CHECK.code,
                place,
                Text(
                    en=f"NPU {chip.npu} chip {chip.chip} reports health {chip.health!r}, planned 'OK'",
                    zh=f"NPU {chip.npu} 芯片 {chip.chip} 的健康状态为 {chip.health!r}，规划为 'OK'",
                ),
                remedy=Text(
                    en=f"read the error codes of NPU {chip.npu}, chip {chip.chip} with the driver's tool",
                    zh=f"用驱动自带工具读取 NPU {chip.npu} 芯片 {chip.chip} 的错误码，其中会指出部件",
                ),
                severity=Severity.ERROR if chip.health.lower() in _GRAVE else Severity.WARNING,
            )


CHECK = Check(
    code="HST004",
    name="chip_health",
    title=Text(en="chips are healthy", zh="芯片健康"),
    scope=Scope.SERVER,
    needs=(Chips,),
    judge=judge,
    after=("NET001",),
)
