"""The kernel's log holds an NPU fault that nothing has ended.

Means:
    The driver logged an event of a device: a fault that occurred and was not followed by its end, or one that has no
    end, such as a memory error. It may be over: a device that was reset since need not have said so. What the chip says
    of itself today is HST004's; ups and downs of ports are left to the checks of links.
Matters:
    A device with such a fault gives wrong results, hangs, or is lost in the middle of a job.
Mend:
    `rankready explain 0x…` says what the event means. As a rule: end the job and reset the device; replace it when the
    event comes again.
含义：
    驱动记录了设备事件：发生后没有恢复的故障，或不存在恢复的故障（如内存错误）。它可能已经过去：之后复位过的设备不一定会
    记录恢复。芯片当前的状态由 HST004 判断；端口的通断由链路检查负责。
影响：
    存在此类故障的设备可能给出错误结果、挂起，或在任务运行中丢失。
修复：
    `rankready explain 0x…` 说明事件含义。一般做法：停止任务并复位设备；复发则更换。
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.chips import Assertion, NpuEvents
from rankready.model.place import device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.observed.chips import NpuEvent
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_PORTS: Final = ("0x81078603", "0x81B18603")  # up → down: NET001 and NET013 ask the device itself
_HARMLESS: Final = ("0x80E18400", "0x80E18401", "0x80E01809", "0x819B8003", "0x8C2FA001")  # facts/logs 6.5: no action


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device and event that stands; its certainty falls where the words tell no end."""
    for server in cluster.servers:
        fact = seen.at(server.place, NpuEvents)
        if fact is None:
            continue
        for (code, device), (last, count) in _standing(fact).items():
            place = (
                server.place if device is None or device not in server.devices else device_place(server.name, device)
            )
            yield _found(place, code, last, count)


def _standing(fact: NpuEvents) -> dict[tuple[str, int | None], tuple[NpuEvent, int]]:
    """Return the last word of each event that has not resumed, and how often it was said."""
    found: dict[tuple[str, int | None], tuple[NpuEvent, int]] = {}
    for event in fact.events:
        key = (event.code, event.device)
        if event.code in _PORTS:
            continue
        if event.assertion is Assertion.RESUMED:
            found.pop(key, None)
            continue
        found[key] = (event, found[key][1] + 1 if key in found else 1)
    return found


def _found(place: Place, code: str, last: NpuEvent, count: int) -> Finding:
    times = ("", "") if count == 1 else (f" ({count} times)", f"（{count} 次）")
    device = ("", "") if last.device is None else (f" of device {last.device}", f"（设备 {last.device}）")
    return finding(
        CHECK.code,
        place,
        Text(
            en=f"the kernel's log holds event {code}{device[0]} without an end{times[0]}",
            zh=f"内核日志中有未恢复的事件 {code}{device[1]}{times[1]}",
        ),
        remedy=Text(
            en=f"rankready explain {code}; what it does not know, the vendor's list of events does",
            zh=f"rankready explain {code}；若其中没有，请查阅厂商的事件列表",
        ),
        severity=Severity.NOTE if code in _HARMLESS else Severity.WARNING,
        certainty=Certainty.LIKELY if last.assertion is Assertion.OCCURRED else Certainty.MAYBE,
    )


CHECK = Check(
    code="HST015",
    name="npu_events",
    title=Text(en="the kernel's log holds no open NPU fault", zh="内核日志中没有未恢复的 NPU 故障"),
    scope=Scope.SERVER,
    needs=(NpuEvents,),
    judge=judge,
    severity=Severity.WARNING,
)
