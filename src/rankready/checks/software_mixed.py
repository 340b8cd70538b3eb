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

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import majority, outliers
from rankready.model.observed.job_host import Cann, Frameworks
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_CANN = "CANN"


def judge(_: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server that differs from the majority; on a tie for all."""
    facts = dict(seen.each(Frameworks))
    told: dict[str, dict[Place, str]] = {
        _CANN: {p: c.version for p, c in seen.each(Cann) if c.version},
        "Python": {p: ".".join(f.python.split(".")[:2]) for p, f in facts.items()},
        "torch": {p: f.torch for p, f in facts.items() if f.torch},
        "torch_npu": {p: f.torch_npu for p, f in facts.items() if f.torch_npu},
        "mindspore": {p: f.mindspore for p, f in facts.items() if f.mindspore},
    }
    for name, versions in told.items():
        most = majority(versions)
        for place in outliers(versions):
            others = most or ", ".join(sorted(set(versions.values()) - {versions[place]}))
            yield _mixed(place, name, versions[place], others)


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
    needs=(Frameworks,),
    judge=judge,
)
