"""An optical module is hotter, or colder, than it may be.

Means:
    The temperature of the device's optical module is outside of the limits that the module itself tells. A module that
    tells none is not judged.
Matters:
    A hot module loses light, makes errors, and ages fast; some switch themselves off.
Mend:
    Look at the fans and the air flow of this server, at blanking plates, and at its neighbours: one hot module is a
    module, a hot row is the room.
含义：
    设备光模块的温度超出模块自身给出的限值；未给出限值的模块不作判断。
影响：
    过热的模块光功率下降、误码增加、老化加快，有的会自行关闭。
修复：
    检查服务器风扇、风道与挡板，并与相邻端口对比：单个过热是模块问题，整排过热是机房问题。
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
    en="host admin: look at the fans and the air flow of this server; then replace the module",
    zh="服务器管理员：检查该服务器的风扇与风道；之后更换光模块",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each device whose module is outside of its own limits."""
    yield from beyond_own_limits(
        CHECK.code, seen, told=lambda o: (o.temperature_c, o.temperature_limits_c), words=_words, remedy=_REMEDY
    )


def _words(value: float, span: Text) -> Text:
    return Text(
        en=f"the optical module has {value:g} C, its own limits are {span.en} C",
        zh=f"光模块温度为 {value:g} C，自身限值为 {span.zh} C",
    )


CHECK = Check(
    code="OPT003",
    name="module_hot",
    title=Text(en="optical modules are at a good temperature", zh="光模块温度正常"),
    scope=Scope.DEVICE,
    needs=(Optics,),
    judge=judge,
)
