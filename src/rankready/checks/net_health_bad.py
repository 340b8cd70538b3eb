"""A device says that its network is not healthy.

Means:
    The device probes its netdetect target by itself and gets no answer (or its link is down). It speaks of that one
    target only. A device without a target says `Init`, which is no fault.
Matters:
    One of three is broken: this device, the path, or the target. Where another finding already names one of them,
    this one is shown as implied.
Mend:
    Mend what the other findings name first. If there is none, `rankready mesh` names the culprit.
含义：
    设备自行探测其检测地址而得不到应答（或链路断开）。它只说明这一个目标。未设置目标的设备报告 `Init`，不算故障。
影响：
    三者之一有问题：本设备、路径、或目标。若其他发现已指出其一，则本条显示为“由其引起”。
修复：
    先处理其他发现；若没有，用 `rankready mesh` 定位。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.addressing import by_owner
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.device import DeviceAddress, Health, NetDetect, NetHealth
from rankready.model.snapshot import GapKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_TRANSIENT = (Health.INIT, Health.DETECT_IP_SET)


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each device whose own verdict is bad, blaming whoever owns the address that it probes."""
    planned = by_owner(cluster.addressing)
    held: dict[Address, list[Place]] = {}
    for device, fact in seen.each(DeviceAddress):
        held.setdefault(fact.interface.ip, []).append(device)
    for device, health in seen.each(NetHealth):
        target = seen.at(device, NetDetect)
        if health.status is Health.INIT and target is None:
            yield unsettled(
                device, "it probes nobody: no netdetect target is set", "未设置检测地址，设备不作探测", skip=True
            )
            continue
        if health.status is Health.SUCCESS:
            continue
        owners = [] if target is None else [planned.get(target.target), *held.get(target.target, ())]
        blames = tuple(dict.fromkeys(p for p in owners if p is not None and p != device))
        unread = any(_unread(p, seen) for p in blames)
        whom = "" if target is None else f" ({target.target}{f', {blames[0]}' if blames else ''})"
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"its own network health is {health.status.value!r}{whom}, planned 'Success'",
                zh=f"自身网络健康状态为 {health.status.value!r}{whom}，规划为 'Success'",
            ),
            remedy="rankready mesh",
            severity=Severity.WARNING if health.status in _TRANSIENT or unread else Severity.ERROR,
            certainty=Certainty.MAYBE if blames else Certainty.LIKELY,
            blames=blames,
        )


def _unread(target: Place, seen: Seen) -> bool:
    """Tell whether nothing could be read at the target: its side of the story is missing, so is half the verdict."""
    gap = seen.gap(target, NetHealth)
    return gap is not None and gap.kind is GapKind.UNKNOWN


CHECK = Check(
    code="NET008",
    name="net_health_bad",
    title=Text(en="devices call their own network healthy", zh="设备自报网络健康"),
    scope=Scope.DEVICE,
    needs=(NetHealth, NetDetect),
    judge=judge,
    after=(
        "NET001",
        "NET002",
        "NET003",
        "NET004",
        "NET005",
        "NET007",
        "NET009",
        "NET010",
        "NET011",
        "CAB002",
        "CAB003",
        "HST002",
    ),
)
