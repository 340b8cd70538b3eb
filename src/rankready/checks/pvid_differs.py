"""A device's switch port is in another VLAN than the ports of its segment.

Means:
    All ports of one planned segment should advertise the same port VLAN. This one advertises another. Where a port's
    VLAN is cut off or not told, it is not known; where no port of a segment tells one, nothing is compared.
Matters:
    The link is up and LLDP looks normal, yet the device reaches nobody of its segment.
Mend:
    Set the access VLAN of that switch port to the one that the rest of the segment has.
含义：
    同一规划网段的所有交换机端口应通告相同的端口 VLAN。该端口通告的不同。端口的 VLAN 被截断或未通告时为未知；
    整个网段都未通告时不作比较。
影响：
    链路连通、LLDP 正常，但设备到不了本网段的任何对端。
修复：
    把该交换机端口的接入 VLAN 改为与网段其余端口一致。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.cluster import Topology
from rankready.model.finding import Certainty
from rankready.model.majority import majority, outliers
from rankready.model.observed.device import Neighbour, NeighbourKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each port outside the majority VLAN of its segment; on a tie for all, unsure."""
    groups: dict[Hashable, dict[Place, Neighbour]] = {}
    for device in cluster.devices():
        neighbour = seen.at(device, Neighbour)
        if cluster.topology is Topology.DIRECT or (neighbour and neighbour.kind is NeighbourKind.DEVICE):
            yield unsettled(device, "no switch port stands at the other end", "对端不是交换机端口", skip=True)
        elif neighbour is not None:
            groups.setdefault(_segment(cluster, device), {})[device] = neighbour
        elif seen.unset(device, Neighbour):
            yield unsettled(device, "no neighbour is heard: its VLAN is not known", "没有发现邻居：不知道其 VLAN")
    for group in groups.values():
        pvids = {d: n.pvid for d, n in group.items() if n.pvid is not None}
        yield from _differing(group, pvids)
        yield from (_silent(d, n, told=bool(pvids)) for d, n in group.items() if n.pvid is None)


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


def _silent(device: Place, neighbour: Neighbour, *, told: bool) -> Unsettled:
    """A port whose VLAN is not known: cut off, or not said; where no port of the segment says it, none is compared."""
    port = f"{neighbour.system} {neighbour.port}"
    if not neighbour.whole:
        return unsettled(
            device,
            f"what {port} tells is cut off before its PVID",
            f"{port} 的 LLDP 内容在 PVID 之前被截断",
        )
    if told:
        return unsettled(
            device,
            f"{port} advertises no PVID, other ports of its segment do",
            f"{port} 未通告 PVID，同网段其他端口已通告",
        )
    return unsettled(device, "no port of its segment advertises a PVID", "同网段没有端口通告 PVID", skip=True)


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
    after=("NET001", "CAB001", "CAB002"),
)
