"""Servers have different versions of CANN, Python or the framework.

Means:
    A version on this server is not the one that most servers have.
Matters:
    HCCL compares the CANN version when ranks connect and ends with EI0008. Different frameworks exchange data in
    different order or form: they fail late, and the message names something else.
Mend:
    Bring all servers to one version.
含义：
    该服务器上的某个版本与多数服务器不同。
影响：
    HCCL 建链时比较 CANN 版本，不同则以 EI0008 失败。框架版本不同时，数据交换的顺序或形式可能不同：很晚才失败，且报错
    与原因不符。
修复：
    把所有服务器统一到同一版本。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import majority, mixed
from rankready.model.observed.job_host import Cann, Frameworks
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_CANN = "CANN"


def judge(_: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each server that differs from the majority; on a tie for all."""
    for place, cann in seen.each(Cann):
        if not cann.version:
            yield unsettled(place, f"{_CANN} is there, its version is not told", f"存在 {_CANN}，但未显示版本")
    facts = dict(seen.each(Frameworks))
    told: dict[str, dict[Place, str]] = {
        _CANN: {p: c.version for p, c in seen.each(Cann) if c.version},
        "Python": {p: ".".join(f.python.split(".")[:2]) for p, f in facts.items()},
        "torch": {p: f.torch for p, f in facts.items() if f.torch},
        "torch_npu": {p: f.torch_npu for p, f in facts.items() if f.torch_npu},
        "mindspore": {p: f.mindspore for p, f in facts.items() if f.mindspore},
    }
    yield from _lacking("torch", {p: f.torch for p, f in facts.items()})
    yield from _lacking("mindspore", {p: f.mindspore for p, f in facts.items()})
    for name, versions in told.items():
        yield from (_mixed(place, name, own, ", ".join(others)) for place, own, others in mixed(versions))


def _lacking(name: str, versions: dict[Place, str]) -> Iterator[Finding]:
    """Yield a warning for each server without what most have; torch_npu alone is JOB017's."""
    most = majority(versions)
    for place, own in versions.items():
        if most and not own:
            yield finding(
                CHECK.code,
                place,
                Text(en=f"{name} is not installed, most servers have {most}", zh=f"未安装 {name}，多数服务器为 {most}"),
                remedy=Text(en=f"install {name} {most}", zh=f"安装 {name} {most}"),
                severity=Severity.WARNING,
            )


def _mixed(place: Place, name: str, mine: str, others: str) -> Finding:
    return finding(
        CHECK.code,
        place,
        Text(en=f"{name} is {mine}, other servers have {others}", zh=f"{name} 为 {mine}，其他服务器为 {others}"),
        remedy=Text(en=f"bring all servers to one version of {name}", zh=f"把所有服务器统一到同一 {name} 版本"),
        severity=Severity.ERROR if name == _CANN else Severity.WARNING,
    )


CHECK = Check(
    code="VER002",
    name="software_mixed",
    title=Text(en="software versions agree", zh="软件版本一致"),
    scope=Scope.SERVER,
    needs=(Frameworks, Cann),
    judge=judge,
)
