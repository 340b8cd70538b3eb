"""A variable that must be equal everywhere differs between servers.

Means:
    A server's shell sets a variable of HCCL's to another value than most servers, or alone.
Matters:
    HCCL compares some of them when ranks connect and ends with EI0005 (HCCL_BUFFSIZE, HCCL_DETERMINISTIC). Others only
    make it slow, or make one server give up before the rest (timeouts, RDMA traffic class).
Mend:
    Set it in `job: env:` of cluster.yaml, which wins on every server; or set it equally where it is set.
含义：
    某台服务器的 shell 中，HCCL 的某个变量与多数服务器不同，或只有它设置了该变量。
影响：
    HCCL 建链时会比较其中一些，不同则以 EI0005 失败（HCCL_BUFFSIZE、HCCL_DETERMINISTIC）；其余的会降低性能，或使某台
    服务器提前放弃（超时、RDMA 流量类别）。
修复：
    在 cluster.yaml 的 `job: env:` 中设置，它在所有服务器上优先；或在各处设为相同的值。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.job_variables import EQUAL
from rankready.model.majority import mixed
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_FATAL = ("HCCL_BUFFSIZE", "HCCL_DETERMINISTIC")
_UNSET = "(unset)"


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server that differs from the majority; on a tie for all."""
    shells = dict(seen.each(JobEnvironment))
    names = sorted({n for shell in shells.values() for n in shell.values} & EQUAL - set(cluster.job.env))
    for name in names:
        values = {server: shell.values.get(name, _UNSET) for server, shell in shells.items()}
        yield from (_differs(server, name, own, ", ".join(others)) for server, own, others in mixed(values))


def _differs(server: Place, name: str, mine: str, others: str) -> Finding:
    return finding(
        CHECK.code,
        server,
        Text(en=f"{name} is {mine}, other servers have {others}", zh=f"{name} 为 {mine}，其他服务器为 {others}"),
        remedy=Text(en=f"set {name} in job: env: of cluster.yaml", zh=f"在 cluster.yaml 的 job: env: 中设置 {name}"),
        severity=Severity.ERROR if name in _FATAL else Severity.WARNING,
    )


CHECK = Check(
    code="JOB014",
    name="variables_differ",
    title=Text(en="variables that must be equal are equal", zh="须一致的环境变量在各服务器上一致"),
    scope=Scope.SERVER,
    needs=(JobEnvironment,),
    judge=judge,
)
