"""The bias current of an optical module's laser is unusual.

Means:
    A lane of the device's optical module drives its laser with less than 6 or more than 10 mA. Modules tell no limits
    of their own for it; these are those that the field uses.
Matters:
    A laser that ages needs more current for the same light, until it fails.
Mend:
    Watch the module's power over some days, and replace it when that falls too.
含义：
    设备光模块某个通道的激光器偏置电流低于 6 mA 或高于 10 mA。模块不提供该项阈值，此处采用现场常用值。
影响：
    激光器老化后需要更大的电流才能维持相同光功率，直至失效。
修复：
    观察几天内的光功率，若同时下降则更换光模块。
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
    from rankready.model.snapshot import Seen

_USUAL = Limits(low=6.0, high=10.0)  # facts/hccn 3.5
_REMEDY = Text(
    en="watch the optical power of this port; hands on site: replace the module when it falls",
    zh="关注该端口的光功率；若下降，由现场人员更换光模块",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a warning for each device with a lane outside of what is usual."""
    for device, optics in seen.each(Optics):
        wrong = [(lane, ma) for lane, ma in enumerate(optics.tx_bias_ma) if ma is not None and not _USUAL.hold(ma)]
        if not wrong:
            if None in optics.tx_bias_ma or len(optics.tx_bias_ma) < LANES:
                yield untold(device)
            continue
        en = ", ".join(f"lane {lane} {ma} mA" for lane, ma in wrong)
        zh = "，".join(f"通道 {lane} {ma} mA" for lane, ma in wrong)
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"the laser's bias current is unusual: {en}, usual is {_USUAL.low} to {_USUAL.high} mA",
                zh=f"激光器偏置电流异常：{zh}，通常为 {_USUAL.low} 至 {_USUAL.high} mA",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
            certainty=Certainty.LIKELY,
        )


CHECK = Check(
    code="OPT002",
    name="bias_out_of_range",
    title=Text(en="lasers run at a usual current", zh="激光器偏置电流正常"),
    scope=Scope.DEVICE,
    needs=(Optics,),
    judge=judge,
    severity=Severity.WARNING,
    after=("NET001",),
)
