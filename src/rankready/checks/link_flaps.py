"""A device's port goes down and up again and again.

Means:
    The device recorded more than five changes of its link within 24 hours, or, where no times were recorded, more
    than five losses since it started.
Matters:
    Each loss ends a running job (EI0013, EJ0002) hours after every test had passed.
Mend:
    Clean or replace the optic and the cable; look at the optical power of both ends.
含义：
    设备在 24 小时内记录了超过 5 次链路变化；没有时间记录时，自启动以来断开超过 5 次。
影响：
    每次断开都会使运行中的任务失败（EI0013、EJ0002），往往在所有测试通过几小时之后。
修复：
    清洁或更换光模块与线缆；检查两端光功率。
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.device import LinkHistory
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_TOLERATED = 5  # facts/hccn 3.5: more than five changes in 24 h is flapping
_WINDOW = timedelta(hours=24)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each device whose link changed more often than is tolerated."""
    for device, history in seen.each(LinkHistory):
        busiest = _busiest(history)
        downs = max(0, history.ups - 1) if history.downs is None else history.downs  # an old driver counts ups alone
        if busiest > _TOLERATED:
            said = Text(en=f"the link changed {busiest} times within 24 hours", zh=f"链路在 24 小时内变化 {busiest} 次")
        elif not history.changes and downs > _TOLERATED:
            said = Text(en=f"the link was lost {downs} times since the start", zh=f"自启动以来链路断开 {downs} 次")
        elif len(history.changes) - _readable(history) + busiest > _TOLERATED:
            yield unsettled(device, "the times of its link changes can't be read", "无法读取链路变化的时间")
            continue
        else:
            continue
        yield finding(CHECK.code, device, said, remedy=_REMEDY, severity=Severity.WARNING)


def _busiest(history: LinkHistory) -> int:
    """Count the changes of the fullest 24 hours; records whose time cannot be read are left out."""
    times = sorted(t for stamp, _ in history.changes if (t := _time(stamp)) is not None)
    return max((sum(start <= t <= start + _WINDOW for t in times) for start in times), default=0)


def _readable(history: LinkHistory) -> int:
    return sum(_time(stamp) is not None for stamp, _ in history.changes)


def _time(stamp: str) -> datetime | None:
    try:
        return datetime.strptime(" ".join(stamp.split()), "%a %b %d %H:%M:%S %Y")  # noqa: DTZ007  (device-local time; only differences count)
    except ValueError:
        return None


_REMEDY = Text(
    en="clean or replace the optic and the cable of this port",
    zh="清洁或更换该端口的光模块与线缆",
)

CHECK = Check(
    code="NET013",
    name="link_flaps",
    title=Text(en="links are steady", zh="链路稳定"),
    scope=Scope.DEVICE,
    needs=(LinkHistory,),
    judge=judge,
    severity=Severity.WARNING,
    after=("NET001",),
)
