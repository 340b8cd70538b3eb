"""A server is in SMP mode, and the plan is legal in AMP mode alone.

Means:
    On A1 the cluster file gives positions of a server that SMP mode wants apart one segment, parts a pair that it
    wants together, or uses a range that it reserves. All of this is free in AMP mode; this server is in SMP mode.
    Where a plan is legal in both modes, the mode is not asked.
Matters:
    The tool may refuse the addresses (a reserved range), or take them, and devices of one ring that share a route
    table then answer for each other and time out.
Mend:
    Switch the server to AMP mode in its BMC, as the others are; or write one segment for each of 0/4, 1/5, 2/6 and
    3/7 into the cluster file, which is legal in both modes, and run `rankready plan`.
含义：
    A1 的 cluster.yaml 将 SMP 模式下须分开的号位放入同一网段、将须同网段的一对号位分开，或使用了其保留范围。这些在 AMP
    模式下均不受限制，而该服务器处于 SMP 模式。规划在两种模式下均合规时，不查询工作模式。
影响：
    工具可能拒绝这些地址（保留范围）；若接受，共用一张路由表的同环设备会互相代答而超时。
修复：
    在 BMC 上将该服务器改为与其他服务器相同的 AMP 模式；或在 cluster.yaml 中为 0/4、1/5、2/6、3/7 各写一个网段，
    这在两种模式下均合规，再执行 `rankready plan`。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each server in SMP mode: the mode is asked only where the plan needs AMP mode."""
    for server in cluster.servers:
        fact = seen.at(server.place, NpuWorkMode)
        if fact is not None and fact.mode is WorkMode.SMP:
            yield finding(
                CHECK.code,
                server.place,
                Text(
                    en="the server is in SMP mode; planned are segments or ranges that only AMP mode allows",
                    zh="服务器处于 SMP 模式；规划的网段或地址范围仅 AMP 模式允许",
                ),
                remedy=Text(
                    en="switch the server to AMP mode in its BMC, or give 0/4, 1/5, 2/6, 3/7 a segment each in the "
                    "cluster file: rankready plan",
                    zh="在 BMC 上将服务器改为 AMP 模式，或在 cluster.yaml 中为 0/4、1/5、2/6、3/7 各设一个网段："
                    "rankready plan",
                ),
            )


CHECK = Check(
    code="HST020",
    name="smp_mode",
    title=Text(en="the work mode allows the plan", zh="工作模式允许该规划"),
    scope=Scope.SERVER,
    needs=(NpuWorkMode,),
    judge=judge,
)
