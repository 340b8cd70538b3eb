"""Ports of devices use different forward error correction.

Means:
    A device's port reports another FEC mode than most devices. On a tie both are named. Newer drivers of A2 and A3 do
    not tell the mode at all; there the rule is skipped.
Matters:
    Both ends of a cable must use the same mode. Where one port differs, its link may be down, or up with errors that
    nothing corrects.
Mend:
    Compare the FEC mode of the switch port with its neighbours, and set them alike.
含义：
    设备端口上报的 FEC 模式与多数设备不同；各占一半时两者都会列出。A2、A3 的新驱动不上报该模式，此时跳过本项。
影响：
    链路两端必须使用相同模式。某个端口不同时，链路可能断开，或虽连通却有无法纠正的误码。
修复：
    对比该交换机端口与相邻端口的 FEC 模式，并设为一致。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import mixed
from rankready.model.observed.device import Fec
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="network team: set the FEC mode of this device's switch port like that of the others",
    zh="网络管理员：把该设备所接交换机端口的 FEC 模式设为与其他端口一致",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each port with another mode than most."""
    for device, mode, others in mixed({device: fact.mode for device, fact in seen.each(Fec)}):
        most = ", ".join(others)
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"the FEC mode is {mode!r}, other devices have {most!r}",
                zh=f"FEC 模式为 {mode!r}，其他设备为 {most!r}",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="NET015",
    name="fec_mixed",
    title=Text(en="ports use one FEC mode", zh="端口 FEC 模式一致"),
    scope=Scope.CLUSTER,
    needs=(Fec,),
    judge=judge,
    severity=Severity.WARNING,
)
