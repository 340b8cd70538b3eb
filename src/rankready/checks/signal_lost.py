"""An optical module reports a lost signal on a lane.

Means:
    The module of a device raises a flag of a lost signal (LoS) or a lost lock (LoL) on one or more lanes, sent or
    received, although nothing says that its link is down.
Matters:
    A lane without signal takes a quarter of the port's speed, or is the start of the link's end.
Mend:
    Received: clean or replace the fibre, look at the sender at the other end. Sent: reseat or replace this module.
含义：
    设备光模块在一个或多个通道上报信号丢失（LoS）或失锁（LoL），而链路并未报断开。
影响：
    丢失一个通道会降低端口速率，也可能是链路断开的前兆。
修复：
    接收侧：清洁或更换光纤，检查对端发送；发送侧：重新插拔或更换本端光模块。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._modules import untold
from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.optics import Optics
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="hands on site: clean or replace the fibre of this port, then its module; look at the other end",
    zh="现场人员：清洁或更换该端口的光纤，再更换光模块；并检查对端",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each device whose module raises a flag; each flag is a mask of lanes."""
    for device, optics in seen.each(Optics):
        flags = {"Rx LoS": optics.rx_los, "Rx LoL": optics.rx_lol, "Tx LoS": optics.tx_los, "Tx LoL": optics.tx_lol}
        raised = {name: _lanes(mask) for name, mask in flags.items() if mask}
        if not raised:
            if None in flags.values():
                yield untold(device)
            continue
        en = "; ".join(f"{name} on lane {lanes}" for name, lanes in raised.items())
        zh = "；".join(f"{name} 通道 {lanes}" for name, lanes in raised.items())
        yield finding(
            CHECK.code,
            device,
            Text(en=f"the optical module reports {en}, planned none", zh=f"光模块上报 {zh}，应为无"),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )


def _lanes(mask: int) -> str:
    return ", ".join(str(lane) for lane in range(mask.bit_length()) if mask >> lane & 1)


CHECK = Check(
    code="OPT006",
    name="signal_lost",
    title=Text(en="optical modules report no lost signal", zh="光模块没有信号丢失告警"),
    scope=Scope.DEVICE,
    needs=(Optics,),
    judge=judge,
    severity=Severity.WARNING,
    after=("NET001",),
)
