"""A server's clock differs from the others'.

Means:
    Its clock is more than five seconds from the middle of all servers' clocks. All are read in one look, not at one
    moment: less than that can't be told apart from the look itself.
Matters:
    Logs of several servers can't be laid side by side, and certificates may be judged too old or too young. Schedulers
    take a server with a wrong clock for dead.
Mend:
    Let chrony or ntpd keep all servers at one source.
含义：
    该服务器的时钟与各服务器时钟的中位数相差超过五秒。各时钟在同一次查看中读取，但并非同一时刻：更小的差别无法区分。
影响：
    多台服务器的日志无法对齐；证书可能被判为过期或尚未生效；调度器会把时钟错误的服务器当作失联。
修复：
    用 chrony 或 ntpd 让所有服务器与同一时间源同步。
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.host import Reached
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_MOST_S = 5.0
_TWO = 2


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each server far from the middle; of two servers, for both."""
    clocks = {place: fact.clock for place, fact in seen.each(Reached) if fact.clock is not None}
    for place, fact in seen.each(Reached):
        if fact.clock is None:
            yield unsettled(place, "its clock tells no fractions of a second", "其时钟不带秒的小数部分")
    slack = {place: fact.slack_s for place, fact in seen.each(Reached)}
    if len(clocks) < _TWO:
        return
    middle = median(clocks.values())
    for place, clock in clocks.items():
        off = clock - middle
        if len(clocks) == _TWO:
            off *= 2  # the middle of two lies halfway to the other
        if abs(off) <= _MOST_S + slack[place]:
            continue
        yield finding(
            CHECK.code,
            place,
            Text(
                en=f"its clock is {abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} the other servers'",
                zh=f"其时钟比其他服务器{'快' if off > 0 else '慢'} {abs(off):.0f} 秒",
            ),
            remedy=Text(en="synchronise the clocks (chrony, ntpd)", zh="同步时钟（chrony、ntpd）"),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="HST010",
    name="clock_differs",
    title=Text(en="clocks agree", zh="各服务器时钟一致"),
    scope=Scope.SERVER,
    needs=(Reached,),
    judge=judge,
    severity=Severity.WARNING,
)
