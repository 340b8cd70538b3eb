"""Variables of a job contradict each other, or one value is given to what must differ.

Means:
    `job: env:` of cluster.yaml, together with what a server's shell has already, holds variables that must not stand
    together: RANK_TABLE_FILE with CM_*, both HCCL_INTRA_* switches on, a whitelist that is on without a file, timeouts
    in the wrong order. Or `job: env:` sets what the launcher sets for each process: RANK, HCCL_IF_IP and the like.
Matters:
    HCCL refuses the first kind. The second is worse: two ranks with one number finish with wrong sums, and HCCL listens
    at another server's address.
Mend:
    Remove one of the two; leave ranks and addresses to the launcher.
含义：
    cluster.yaml 的 `job: env:` 与服务器 shell 中已有的变量互相矛盾：RANK_TABLE_FILE 与 CM_*、两个 HCCL_INTRA_* 开关同时
    打开、启用白名单却没有文件、超时顺序颠倒；或 `job: env:` 设置了应由启动器逐进程设置的变量：RANK、HCCL_IF_IP 等。
影响：
    前一类会被 HCCL 拒绝。后一类更糟：两个 rank 编号相同时会得到错误的结果而不报错；HCCL 会在别的服务器的地址上监听。
修复：
    删除其中之一；rank 与地址交给启动器设置。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.job_variables import LAUNCHERS_OWN, clashes
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.ports import host_address
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each contradiction: at the cluster for its own file, else at the server."""
    own = dict(cluster.job.env)
    mine = list(clashes(own))
    yield from (_clash(cluster.place, told) for _, told in mine)
    yield from _for_all(cluster)
    yield from _master(cluster)
    for server in cluster.servers:
        fact = seen.at(server.place, JobEnvironment)
        if fact is None:
            continue
        # the launcher clears CM_* and MASTER_* of the shell before it starts a process
        kept = {n: v for n, v in fact.values.items() if not n.startswith(("CM_", "MASTER_"))}
        yield from (
            _clash(server.place, told) for item in clashes({**kept, **own}) if item not in mine for told in item[1:]
        )


def _clash(place: Place, told: Text) -> Finding:
    return finding(CHECK.code, place, told, remedy=Text(en="remove one of the two", zh="删除其中之一"))


def _for_all(cluster: Cluster) -> Iterator[Finding]:
    many = len(cluster.servers) > 1
    for name in cluster.job.env:
        if name in LAUNCHERS_OWN or (many and name == "HCCL_IF_IP"):
            yield finding(
                CHECK.code,
                cluster.place,
                Text(en=f"{name} has one value for all processes", zh=f"{name} 对所有进程只有一个值"),
                remedy=Text(en=f"leave {name} to the launcher", zh=f"{name} 交给启动器设置"),
            )


def _master(cluster: Cluster) -> Iterator[Finding]:
    said = cluster.job.env.get("MASTER_ADDR")
    first = cluster.nodes()[0]
    want = str(host_address(first) or first.login.host)
    if said is not None and said not in (want, first.name, first.login.host):
        yield finding(
            CHECK.code,
            cluster.place,
            Text(
                en=f"MASTER_ADDR is {said}, node 0 is {first.name} with {want}",
                zh=f"MASTER_ADDR 为 {said}，0 号节点是 {first.name}，地址为 {want}",
            ),
            remedy=Text(en="leave MASTER_ADDR to the launcher", zh="MASTER_ADDR 交给启动器设置"),
        )


CHECK = Check(
    code="JOB015",
    name="variables_clash",
    title=Text(en="variables of a job do not contradict each other", zh="任务环境变量互不矛盾"),
    scope=Scope.SERVER,
    needs=(JobEnvironment,),
    judge=judge,
)
