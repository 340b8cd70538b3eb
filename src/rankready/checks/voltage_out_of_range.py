"""The supply voltage of an optical module is outside of its limits.

Means:
    The voltage that the device's optical module measures at its supply is outside of the limits that the module itself
    tells. A module that tells none is not judged.
Matters:
    The module may lose its light, or reset itself, under load.
Mend:
    Reseat the module; when another one in the same port shows the same, the board is at fault.
含义：
    设备光模块测得的供电电压超出模块自身给出的限值；未给出限值的模块不作判断。
影响：
    负载下模块可能失光或自行复位。
修复：
    重新插拔光模块；若换模块后同一端口仍如此，则为单板故障。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._modules import beyond_own_limits
from rankready.kind.check import Check
from rankready.kind.question import Scope
from rankready.model.observed.optics import Optics
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="hands on site: reseat the module; try another one in this port",
    zh="现场人员：重新插拔光模块；在该端口换一个模块再试",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each device whose module is outside of its own limits."""
    yield from beyond_own_limits(
        CHECK.code, seen, told=lambda o: (o.vcc_mv, o.vcc_limits_mv), words=_words, remedy=_REMEDY
    )


def _words(value: float, span: Text) -> Text:
    return Text(
        en=f"the optical module is supplied with {value:g} mV, its own limits are {span.en} mV",
        zh=f"光模块供电电压为 {value:g} mV，自身限值为 {span.zh} mV",
    )


CHECK = Check(
    code="OPT004",
    name="voltage_out_of_range",
    title=Text(en="optical modules get the right voltage", zh="光模块电压正常"),
    scope=Scope.DEVICE,
    needs=(Optics,),
    judge=judge,
)
