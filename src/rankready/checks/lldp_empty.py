"""A device hears nothing from the other end of its cable.

Means:
    No LLDP neighbour is known to the device, although it was asked. Behind a switch there must be one. The finding
    says whether its link is up: then the switch does not speak; or down: then it follows from the link.
Matters:
    Nobody can tell which switch port the device hangs on. With its link down, the port may be unplugged or not split;
    with its link up, the switch does not speak LLDP.
Mend:
    With the link up, enable LLDP on the switch and on that port. With the link down, mend the link first (NET001,
    CAB004). Between devices without a switch silence alone is no fault, and is not judged.
含义：
    设备没有发现 LLDP 邻居。接在交换机上的设备必须有邻居。发现会说明链路状态：连通则是交换机没有发送；断开则由链路引起。
影响：
    无法知道设备接在交换机的哪个端口。链路断开时，端口可能未插线或未拆分；链路连通时，交换机没有发送 LLDP。
修复：
    链路连通时，在交换机及该端口上开启 LLDP；链路断开时，先修复链路（NET001、CAB004）。
    设备直连时，仅仅没有邻居不算故障，不作判断。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding, unsettled
from rankready.kind.question import Scope
from rankready.model.cluster import Topology
from rankready.model.observed.device import Link, LinkState, Neighbour
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding | Unsettled]:
    """Yield a finding for each device without a neighbour; between devices silence alone is no fault."""
    for device in cluster.devices():
        if not seen.unset(device, Neighbour):
            continue
        if cluster.topology is Topology.DIRECT:
            yield unsettled(
                device,
                "no LLDP neighbour; between devices that alone is no fault",
                "没有 LLDP 邻居；设备直连时仅此不算故障",
                skip=True,
            )
            continue
        yield _silent(device, seen.at(device, Link))


def _silent(device: Place, link: Link | None) -> Finding:
    """What silence means depends on the link (facts/hccn 9)."""
    if link is None:
        said = Text(en="no LLDP neighbour is known, planned a switch port", zh="没有 LLDP 邻居，规划为交换机端口")
        return finding(CHECK.code, device, said, remedy=_LOOK)
    if link.state is LinkState.UP:
        said = Text(
            en="the link is up, but no LLDP neighbour is known, planned a switch port",
            zh="链路连通，但没有 LLDP 邻居，规划为交换机端口",
        )
        return finding(CHECK.code, device, said, remedy=_SPEAK)
    said = Text(
        en=f"the link is {link.state} and no LLDP neighbour is known, planned a switch port",
        zh=f"链路为 {link.state}，没有 LLDP 邻居，规划为交换机端口",
    )
    return finding(CHECK.code, device, said, remedy=_MEND)


_SPEAK = Text(
    en="enable LLDP on the switch and on that port, then `rankready cabling`",
    zh="在交换机及该端口上开启 LLDP，然后执行 `rankready cabling`",
)
_MEND = Text(
    en="mend the link: cable and optic at both ends, switch port shut or not split",
    zh="先修复链路：检查两端的线缆与光模块，交换机端口是否关闭或未拆分",
)
_LOOK = Text(en="rankready check --only NET001,CAB001", zh="rankready check --only NET001,CAB001")

CHECK = Check(
    code="CAB001",
    name="lldp_empty",
    title=Text(en="every device hears its neighbour", zh="每个设备都能发现其邻居"),
    scope=Scope.DEVICE,
    needs=(Neighbour,),
    judge=judge,
    after=("NET001",),
)
