"""The signal of an optical lane is noisy, or far from that of its neighbours.

Means:
    A lane has a signal to noise ratio below 20 dB, or lanes of one module differ by more than 3 dB. These are the
    limits that the field uses; below 18 dB it calls it an alarm.
Matters:
    Noise becomes bit errors, and bit errors become packets sent again: the port is slow before it fails.
Mend:
    Clean the connectors, and exchange fibre, then module, until the lane is like the others.
含义：
    某个通道的信噪比低于 20 dB，或同一模块的通道之间相差超过 3 dB。此为现场常用限值，低于 18 dB 视为严重。
影响：
    噪声导致误码，误码导致重传：端口先变慢，后失效。
修复：
    清洁连接器，依次更换光纤、光模块，直到该通道与其他通道一致。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._modules import untold
from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.optics import LANES, Optics
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.observed.optics import Lanes
    from rankready.model.snapshot import Seen

# facts/hccn 3.5
_LEAST_DB = 20.0
_ALARM_DB = 18.0
_APART_DB = 3.0

_HOST = Text(en="host side", zh="主机侧")
_MEDIA = Text(en="fibre side", zh="光纤侧")
_REMEDY = Text(
    en="hands on site: clean the connectors of this port, then exchange the fibre, then the module",
    zh="现场人员：清洁该端口的连接器，再依次更换光纤与光模块",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each device and side with a noisy lane, or with lanes far apart."""
    for device, optics in seen.each(Optics):
        sides = ((_HOST, optics.host_snr_db), (_MEDIA, optics.media_snr_db))
        noisy = [(side, said) for side, lanes in sides if (said := _noise(lanes)) is not None]
        if not noisy and not any(len(lanes) >= LANES and None not in lanes for _, lanes in sides):
            yield untold(device)
        for side, said in noisy:
            yield finding(
                CHECK.code,
                device,
                Text(en=f"{side.en}: {said.en}", zh=f"{side.zh}：{said.zh}"),
                remedy=_REMEDY,
                severity=Severity.WARNING,
                certainty=Certainty.LIKELY,
            )


def _noise(lanes: Lanes) -> Text | None:
    told = [(db, lane) for lane, db in enumerate(lanes) if db is not None]
    if not told:
        return None
    (low, lane), (high, _) = min(told), max(told)
    if low < _LEAST_DB:
        bar = (_ALARM_DB, "alarm", "严重") if low < _ALARM_DB else (_LEAST_DB, "weak", "偏弱")
        return Text(
            en=f"lane {lane} has a signal to noise ratio of {low:g} dB, below {bar[0]:g} dB is {bar[1]}",
            zh=f"通道 {lane} 信噪比为 {low:g} dB，低于 {bar[0]:g} dB 为{bar[2]}",
        )
    if high - low > _APART_DB:
        return Text(
            en=f"lane {lane} has {low:g} dB, the best lane {high:g} dB: more than {_APART_DB:g} dB apart",
            zh=f"通道 {lane} 为 {low:g} dB，最好的通道为 {high:g} dB，相差超过 {_APART_DB:g} dB",
        )
    return None


CHECK = Check(
    code="OPT005",
    name="signal_noisy",
    title=Text(en="optical signals are clean", zh="光信号信噪比正常"),
    scope=Scope.DEVICE,
    needs=(Optics,),
    judge=judge,
    severity=Severity.WARNING,
    after=("NET001",),
)
