"""A device's port loses or repeats packets while we look.

Means:
    The counters of a device were read twice in one run, a second or more apart, and one that counts damage grew in
    between: frames with a wrong checksum (CRC), bad frames, packets sent again, packets out of order, broken queue
    pairs. What had been counted before is not judged: nobody knows when it was.
Matters:
    A job on this port is slow, and ends with EI0013 when the losses last.
Mend:
    Wrong checksums: clean or replace optic and cable of this port, and look at the other end. Packets sent again
    without wrong checksums: the loss is further along, look for drops on switches, PFC and a full network.
含义：
    同一次运行中两次读取设备计数器，相隔一秒或更久，期间表示损坏的计数增长了：校验错误帧（CRC）、坏帧、重传、乱序、
    队列对异常。之前的累计值不作判断，因为无从得知发生的时间。
影响：
    使用该端口的任务变慢；持续丢包会以 EI0013 失败。
修复：
    校验错误增长：清洁或更换该端口的光模块与线缆，并检查对端。只有重传而无校验错误：丢包在更远处，检查交换机丢包、PFC
    与拥塞。
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.device import Counters, CountersAgain
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

WIRE: Final = ("mac_rx_fcs_err_pkt_num", "mac_rx_bad_pkt_num", "mac_tx_bad_pkt_num")
"""Damage on this very cable, or in the port itself."""

PATH: Final = ("roce_new_pkt_rty_num", "roce_out_of_order_num", "roce_qp_status_err_num")
"""Damage somewhere on the way to a peer (facts/hccn 3.1)."""

_FEWER = Text(en="this driver does not count all kinds of damage", zh="该驱动未统计全部损坏类型")
_CABLE = Text(
    en="hands on site: clean or replace the optic and the cable of this port, and look at its other end",
    zh="现场人员：清洁或更换该端口的光模块与线缆，并检查对端",
)
_BEYOND = Text(
    en="rankready mesh; network team: look for drops on the switches on the way, and at PFC",
    zh="rankready mesh；网络管理员：检查沿途交换机的丢包与 PFC",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each device with growth; a counter that fell was set back and says nothing."""
    for device, again in seen.each(CountersAgain):
        first = seen.at(device, Counters)
        if first is None:
            continue
        before, after = dict(first.values), dict(again.values)
        common = [name for name in (*WIRE, *PATH) if name in before and name in after]
        grown = {name: after[name] - before[name] for name in common if after[name] > before[name]}
        if not grown:
            if len(common) < len((*WIRE, *PATH)):
                yield unsettled(device, _FEWER.en, _FEWER.zh, skip=True)
            continue
        told = ", ".join(f"{name} +{many}" for name, many in grown.items())
        yield finding(
            CHECK.code,
            device,
            Text(en=f"counters of damage grew while we looked: {told}", zh=f"检查期间损坏计数增长：{told}"),
            remedy=_CABLE if set(WIRE) & set(grown) else _BEYOND,
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="NET020",
    name="counters_grow",
    title=Text(en="ports lose no packets while we look", zh="检查期间端口没有丢包与重传"),
    scope=Scope.DEVICE,
    needs=(Counters, CountersAgain),
    judge=judge,
    severity=Severity.WARNING,
    after=("NET001",),
)
