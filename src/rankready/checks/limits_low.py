"""A job's shell may open few files, or lock little memory.

Means:
    The limits of a non-interactive shell on this server, which a job inherits, are low: open files below 1024, or below
    65535 in a cluster of 16 servers or more. Locked memory is noted where a CANN toolkit is installed.
Matters:
    Every rank holds sockets to many peers and files of its data loaders: `Too many open files`, on large jobs only.
Mend:
    Raise `nofile` and `memlock` in /etc/security/limits.d, and log in anew.
含义：
    任务继承的非交互 shell 限制过低：可打开文件数小于 1024，或在 16 台及以上的集群中小于 65535。装有 CANN 时还会提示可锁
    定内存。
影响：
    每个 rank 与许多对端保持连接，数据加载也要打开文件：大作业会出现 `Too many open files`。
修复：
    在 /etc/security/limits.d 中提高 `nofile` 与 `memlock`，并重新登录。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.job_host import Cann, Limits
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_LEAST = 1024
_LEAST_LARGE = 65535  # facts/launch 8
_LARGE = 16


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for few open files, a note for limited locked memory."""
    least = _LEAST_LARGE if len(cluster.servers) >= _LARGE else _LEAST
    for server in cluster.servers:
        limits = seen.at(server.place, Limits)
        if limits is None:
            continue
        if limits.open_files is not None and limits.open_files < least:
            yield finding(
                CHECK.code,
                server.place,
                Text(
                    en=f"a job may open {limits.open_files} files, planned at least {least}",
                    zh=f"任务最多可打开 {limits.open_files} 个文件，规划至少 {least}",
                ),
                remedy=Text(en="raise nofile in /etc/security/limits.d", zh="在 /etc/security/limits.d 中提高 nofile"),
                severity=Severity.WARNING,
            )
        if limits.locked_kib is not None and seen.at(server.place, Cann) is not None:
            yield finding(
                CHECK.code,
                server.place,
                Text(
                    en=f"a job may lock {limits.locked_kib} KiB of memory, RDMA registration may need more",
                    zh=f"任务最多可锁定 {limits.locked_kib} KiB 内存，RDMA 注册可能需要更多",
                ),
                remedy=Text(
                    en="set memlock unlimited in /etc/security/limits.d",
                    zh="在 /etc/security/limits.d 中把 memlock 设为 unlimited",
                ),
                severity=Severity.NOTE,
            )


CHECK = Check(
    code="HST011",
    name="limits_low",
    title=Text(en="a job may open enough files", zh="任务可打开足够的文件"),
    scope=Scope.SERVER,
    needs=(Limits,),
    judge=judge,
    severity=Severity.WARNING,
)
