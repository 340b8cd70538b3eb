"""Devices differ in their MTU, or exceed what the switch takes.

Means:
    A device's MTU is not the planned one; without a plan, not that of most devices; or it is larger than the largest
    frame that its switch port announces.
Matters:
    Small pings pass. Large packets of a job are lost, and it hangs until it times out.
Mend:
    Set one MTU on every device and one that is not smaller on every switch port.
含义：
    设备的 MTU 与规划不一致；没有规划时与多数设备不一致；或大于交换机端口通告的最大帧长。
影响：
    小包 ping 正常，任务的大包丢失，任务挂起直至超时。
修复：
    所有设备使用同一 MTU，所有交换机端口不小于它。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import majority
from rankready.model.observed.device import Mtu, Neighbour
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(
    en="set one MTU on every device and at least that on every switch port",
    zh="所有设备设同一 MTU，所有交换机端口不小于它",
)


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device whose MTU is neither the planned nor the majority's, or too large."""
    sizes = {device: mtu.size for device, mtu in seen.each(Mtu)}
    planned = cluster.parameter_plane.mtu
    want = planned or majority(sizes)
    for device, size in sizes.items():
        if size != want:
            target = _wanted(planned, want) or _others(size, sizes.values())
            yield finding(
                CHECK.code,
                device,
                Text(en=f"the MTU is {size}, {target.en}", zh=f"MTU 为 {size}，{target.zh}"),
                remedy=_REMEDY,
            )
            continue
        neighbour = seen.at(device, Neighbour)
        if neighbour is not None and neighbour.frame_size is not None and size > neighbour.frame_size:
            yield finding(
                CHECK.code,
                device,
                Text(
                    en=f"the MTU is {size}, its switch port takes frames of {neighbour.frame_size}",
                    zh=f"MTU 为 {size}，所接端口最大帧长为 {neighbour.frame_size}",
                ),
                remedy=_REMEDY,
                severity=Severity.WARNING,
            )


def _wanted(planned: int | None, want: int | None) -> Text | None:
    if planned is not None:
        return Text(en=f"planned {planned}", zh=f"规划为 {planned}")
    return None if want is None else Text(en=f"most devices have {want}", zh=f"多数设备为 {want}")


def _others(own: int, sizes: Iterable[int]) -> Text:
    """Name every other value where none is held by most."""
    told = ", ".join(str(size) for size in sorted({*sizes} - {own}))
    return Text(en=f"as many devices have {told}", zh=f"同样多的设备为 {told}")


CHECK = Check(
    code="NET012",
    name="mtu_mixed",
    title=Text(en="devices share one MTU", zh="设备的 MTU 一致"),
    scope=Scope.CLUSTER,
    needs=(Mtu,),
    judge=judge,
)
