"""The file system of the home folder is nearly full.

Means:
    Less than 128 MiB are left where job folders, logs and (in ~/ascend/log) those of the NPUs are written; below 16 MiB
    it is an error.
Matters:
    Scripts arrive cut, logs end early, and a job may die on a write that nobody expected to fail.
Mend:
    Remove old logs: ~/ascend/log, ~/.rankready/jobs.
含义：
    作业目录、日志以及 NPU 日志（~/ascend/log）所在的文件系统剩余不足 128 MiB；不足 16 MiB 时为错误。
影响：
    脚本传输不完整，日志提前中断，任务可能因写入失败而终止。
修复：
    清理旧日志：~/ascend/log、~/.rankready/jobs。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.job_host import HomeSpace
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_LITTLE_KIB = 128 << 10
_LEAST_KIB = 16 << 10


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning, or an error, for each server with little room."""
    for server in cluster.servers:
        fact = seen.at(server.place, HomeSpace)
        if fact is None or fact.free_kib >= _LITTLE_KIB:
            continue
        free = fact.free_kib >> 10
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"{free} MiB are free in the home folder, planned at least {_LITTLE_KIB >> 10}",
                zh=f"主目录剩余 {free} MiB，规划至少 {_LITTLE_KIB >> 10}",
            ),
            remedy=Text(
                en="remove old logs in ~/ascend/log and ~/.rankready/jobs",
                zh="清理 ~/ascend/log 与 ~/.rankready/jobs 中的旧日志",
            ),
            severity=Severity.ERROR if fact.free_kib < _LEAST_KIB else Severity.WARNING,
        )


CHECK = Check(
    code="HST014",
    name="home_full",
    title=Text(en="there is room for jobs and logs", zh="作业与日志有足够空间"),
    scope=Scope.SERVER,
    needs=(HomeSpace,),
    judge=judge,
)
