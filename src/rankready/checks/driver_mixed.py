"""Servers run different driver versions.

Means:
    The driver of this server is not the one that most servers have.
Matters:
    Mixed drivers work until they do not: collective operations may differ in what they support and how fast they are.
Mend:
    Bring all servers to one driver and firmware version.
含义：
    该服务器的驱动版本与多数服务器不同。
影响：
    混用驱动可能一时可用；集合通信的支持范围与性能可能不同。
修复：
    把所有服务器统一到同一驱动与固件版本。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import mixed
from rankready.model.observed.host import Chips
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each server whose driver is not the majority's; on a tie for all."""
    for server, chips in seen.each(Chips):
        if not chips.driver:
            yield unsettled(server, "its driver version is not told", "未显示驱动版本")
    drivers = {server: chips.driver for server, chips in seen.each(Chips) if chips.driver}
    for server, own, others in mixed(drivers):
        most = ", ".join(others)
        yield finding(
            CHECK.code,
            server,
            Text(
                en=f"the driver is {own}, other servers have {most}",
                zh=f"驱动版本为 {own}，其他服务器为 {most}",
            ),
            remedy=Text(en="bring all servers to one driver version", zh="把所有服务器统一到同一驱动版本"),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="VER001",
    name="driver_mixed",
    title=Text(en="servers share one driver version", zh="服务器驱动版本一致"),
    scope=Scope.CLUSTER,
    needs=(Chips,),
    judge=judge,
    severity=Severity.WARNING,
)
