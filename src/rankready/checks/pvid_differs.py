"""A device's switch port is in another VLAN than the ports of its segment.

Means:
    All ports of one planned segment should advertise the same port VLAN. This one advertises another.
Matters:
    The link is up and LLDP looks normal, yet the device reaches nobody of its segment.
Mend:
    Set the access VLAN of that switch port to the one that the rest of the segment has.
含义：
    同一规划网段的所有交换机端口应通告相同的端口 VLAN。该端口通告的不同。
影响：
    链路连通、LLDP 正常，但设备到不了本网段的任何对端。
修复：
    把该交换机端口的接入 VLAN 改为与网段其余端口一致。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.majority import majority, outliers
from rankready.model.observed.device import Neighbour, NeighbourKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each port outside the majority VLAN of its segment; on a tie for all, unsure."""
    groups: dict[Hashable, dict[Place, Neighbour]] = {}
    for device, neighbour in seen.each(Neighbour):
        if neighbour.kind is not NeighbourKind.DEVICE:
            groups.setdefault(_segment(cluster, device), {})[device] = neighbour
    for group in groups.values():
        pvids = {d: n.pvid for d, n in group.items() if n.pvid is not None}
        yield from _differing(group, pvids)
        if pvids:
            yield from (_silent(d, n) for d, n in group.items() if n.pvid is None)


def _differing(group: dict[Place, Neighbour], pvids: dict[Place, int]) -> Iterator[Finding]:
    most = majority(pvids)
    for device in outliers(pvids):
        neighbour, have = group[device], pvids[device]
        port = f"{neighbour.system} {neighbour.port}".strip()
        others = ", ".join(str(p) for p in sorted(set(pvids.values()) - {have}))
        want = others if most is None else str(most)
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"its port {port} has PVID {have}, other ports of its segment have {want}",
                zh=f"所接端口 {port} 的 PVID 为 {have}，同网段其他端口为 {want}",
            ),
            remedy=Text(
                en=f"set the access VLAN of {port} to {want}",
                zh=f"把 {port} 的接入 VLAN 改为 {want}",
            ),
            certainty=Certainty.MAYBE if most is None else Certainty.SURE,
        )


def _silent(device: Place, neighbour: Neighbour) -> Finding:
    return finding(
        CHECK.code,
        device,
        Text(
            en=f"its port {neighbour.system} {neighbour.port} advertises no PVID, other ports of its segment do",
            zh=f"所接端口 {neighbour.system} {neighbour.port} 未通告 PVID，同网段其他端口已通告",
        ),
        remedy=Text(en="look at the VLAN of that switch port", zh="检查该交换机端口的 VLAN"),
        severity=Severity.NOTE,
    )


def _segment(cluster: Cluster, device: Place) -> Hashable:
    """Devices whose planned addresses share a network share a segment; without a plan, those of one rail do."""
    planned = cluster.planned(device)
    return device.device if planned is None else planned.interface.network


CHECK = Check(
    code="CAB003",
    name="pvid_differs",
    title=Text(en="ports of one segment share a VLAN", zh="同一网段的端口在同一 VLAN"),
    scope=Scope.DEVICE,
    needs=(Neighbour,),
    judge=judge,
    after=("CAB002",),
)
