"""The optical power of a port is outside of its limits.

Means:
    A lane of the device's optical module sends or receives more or less light than it should. The limits are the
    module's own where it tells them (an error); else those that the field uses, 0.2 to 2.5 mW sent and 0.1445 to 2.3 mW
    received, below 0.6 mW being weak (a warning). No module, as with direct attach cables and on blade boards, is no
    fault.
Matters:
    The link is up today; it loses frames or goes down when dust, heat or age take the last margin.
Mend:
    Received light: clean the connectors, reseat or replace the cable, look at the sender at the other end. Sent light:
    replace this module.
含义：
    设备光模块某个通道的发送或接收光功率超出限值。模块给出阈值时以其为准（错误）；否则采用现场常用值：发送 0.2 至
    2.5 mW，接收 0.1445 至 2.3 mW，低于 0.6 mW 为偏弱（告警）。没有光模块（直连铜缆、刀片板）不算故障。
影响：
    链路目前连通；灰尘、温度或老化耗尽余量后会丢帧或断开。
修复：
    接收光功率异常：清洁连接器，重新插拔或更换光纤，检查对端发送；发送光功率异常：更换本端光模块。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._modules import untold
from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.optics import LANES, Limits, Optics
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

# facts/hccn 3.5: used where the module tells no limits of its own
_SENT = Limits(low=0.2, high=2.5)
_RECEIVED = Limits(low=0.1445, high=2.3)
_WEAK_MW = 0.6

Numbered = list[tuple[int, float]]
"""Lanes by number, with their power in milliwatts."""

_SENDS = Text(en="sends", zh="发送")
_RECEIVES = Text(en="receives", zh="接收")
_MODULE = Text(en="hands on site: replace the optical module of this port", zh="现场人员：更换该端口的光模块")
_FIBRE = Text(
    en="hands on site: clean the connectors of this port, then replace the fibre; look at what the other end sends",
    zh="现场人员：清洁该端口的连接器，再更换光纤；并检查对端的发送光功率",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each device and direction with a lane outside of its limits."""
    for device, optics in seen.each(Optics):
        sides = (
            (_SENDS, optics.tx_power_mw, optics.tx_power_limits_mw),
            (_RECEIVES, optics.rx_power_mw, optics.rx_power_limits_mw),
        )
        for verb, lanes, told in sides:
            known = [(lane, mw) for lane, mw in enumerate(lanes) if mw is not None]
            own = told.low is not None or told.high is not None
            for wrong, limits in [_by_its_own(known, told)] if own else _by_custom(known, verb):
                if wrong:
                    yield _found(device, verb, lanes=wrong, limits=limits, own=own)
            if len(known) < LANES or (optics.partial and None in (told.low, told.high)):
                yield untold(device)


def _by_its_own(lanes: Numbered, told: Limits) -> tuple[Numbered, Text]:
    span = told.span
    said = Text(en=f"the module's own limits are {span.en} mW", zh=f"模块自身限值为 {span.zh} mW")
    return [(lane, mw) for lane, mw in lanes if not told.hold(mw)], said


def _by_custom(lanes: Numbered, verb: Text) -> Iterator[tuple[Numbered, Text]]:
    usual = _SENT if verb is _SENDS else _RECEIVED
    outside = [(lane, mw) for lane, mw in lanes if not usual.hold(mw)]
    yield outside, Text(en=f"usual is {usual.span.en} mW", zh=f"通常为 {usual.span.zh} mW")
    weak = [(lane, mw) for lane, mw in lanes if verb is _RECEIVES and usual.hold(mw) and mw < _WEAK_MW]
    yield weak, Text(en=f"below {_WEAK_MW:g} mW is weak", zh=f"低于 {_WEAK_MW:g} mW 为偏弱")


def _found(device: Place, verb: Text, *, lanes: Numbered, limits: Text, own: bool) -> Finding:
    alike = {mw: ", ".join(str(lane) for lane, power in lanes if power == mw) for _, mw in lanes}
    en = ", ".join(f"{mw:g} mW on lane {which}" for mw, which in alike.items())
    zh = "，".join(f"通道 {which} {mw:g} mW" for mw, which in alike.items())
    return finding(
        CHECK.code,
        device,
        Text(en=f"the optical module {verb.en} {en}; {limits.en}", zh=f"光模块{verb.zh}光功率：{zh}；{limits.zh}"),
        remedy=_MODULE if verb is _SENDS else _FIBRE,
        severity=Severity.ERROR if own else Severity.WARNING,
        certainty=Certainty.SURE if own else Certainty.LIKELY,
    )


CHECK = Check(
    code="OPT001",
    name="light_out_of_range",
    title=Text(en="optical power is within its limits", zh="光功率在限值内"),
    scope=Scope.DEVICE,
    needs=(Optics,),
    judge=judge,
    after=("NET001",),
)
