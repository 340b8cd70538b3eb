"""Shared memory on a server is small.

Means:
    /dev/shm has 64 MiB or less, in all or left. That is what a container gets when nobody says otherwise.
Matters:
    Data loaders hand their batches over there: they die with `Bus error`, some minutes into the training.
Mend:
    Enlarge it (`mount -o remount,size=... /dev/shm`; `--shm-size` for a container), or remove what fills it.
含义：
    /dev/shm 的总量或剩余量不超过 64 MiB；未作设置的容器即为此值。
影响：
    数据加载进程通过它传递数据：训练开始几分钟后会以 `Bus error` 崩溃。
修复：
    增大它（`mount -o remount,size=... /dev/shm`；容器用 `--shm-size`），或清理占用者。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.job_host import SharedMemory
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_LEAST_KIB = 64 << 10


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each server with too little shared memory."""
    for server in cluster.servers:
        fact = seen.at(server.place, SharedMemory)
        if fact is None or fact.free_kib > _LEAST_KIB:
            continue
        free, total = fact.free_kib >> 10, fact.total_kib >> 10
        yield finding(
            CHECK.code,
            server.place,
            Text(
                en=f"{free} of {total} MiB of /dev/shm are free, planned more than 64",
                zh=f"共享内存 /dev/shm 剩余 {free} MiB（共 {total} MiB），规划大于 64",
            ),
            remedy=Text(en="enlarge /dev/shm, or remove what fills it", zh="增大 /dev/shm，或清理占用者"),
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="HST013",
    name="shared_memory_small",
    title=Text(en="shared memory is large enough", zh="共享内存足够"),
    scope=Scope.SERVER,
    needs=(SharedMemory,),
    judge=judge,
    severity=Severity.WARNING,
)
