"""Devices treat different priorities as lossless.

Means:
    Priority flow control (PFC) is on for other priorities at this device than at most devices. On a tie both sides are
    named.
Matters:
    Traffic of one and the same job is paused at some devices and dropped at others when the network is full: bandwidth
    falls without any error.
Mend:
    Set the same priorities on all devices, and on the switches; the one that a job uses is HCCL_RDMA_SL.
含义：
    该设备开启 PFC（无损）的优先级与多数设备不同；各占一半时两者都会列出。
影响：
    网络拥塞时，同一任务的流量在部分设备上被暂停，在另一些设备上被丢弃：带宽下降而没有任何报错。
修复：
    在所有设备与交换机上设为相同的优先级；任务使用的优先级是 HCCL_RDMA_SL。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import mixed
from rankready.model.observed.traffic import Pfc
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="set PFC of this device like that of the others, while no job runs; then: rankready check --only NET016,NET017",
    zh="在没有任务运行时把该设备的 PFC 设为与其他设备一致，然后：rankready check --only NET016,NET017",
)


def judge(_: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each device whose lossless priorities are not those of most."""
    for device, own, others in mixed({device: fact.priorities for device, fact in seen.each(Pfc)}):
        mine, theirs = _words(own), [_words(item) for item in others]
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"lossless priorities: {mine.en}; other devices: {', or '.join(t.en for t in theirs)}",
                zh=f"无损优先级：{mine.zh}；其他设备：{'，或 '.join(t.zh for t in theirs)}",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )


def _words(priorities: Iterable[int]) -> Text:
    told = " and ".join(map(str, priorities))
    return Text(en=told or "none", zh=told.replace(" and ", "、") or "无")


CHECK = Check(
    code="NET016",
    name="pfc_mixed",
    title=Text(en="devices treat the same priorities as lossless", zh="设备的无损优先级（PFC）一致"),
    scope=Scope.CLUSTER,
    needs=(Pfc,),
    judge=judge,
    severity=Severity.WARNING,
)
