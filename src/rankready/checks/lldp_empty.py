"""A device hears nothing from the other end of its cable.

Means:
    No LLDP neighbour is known to the device, although it was asked. Behind a switch there must be one.
Matters:
    Nobody can tell which switch port the device hangs on. With its link down, the port may be unplugged or not split;
    with its link up, the switch does not speak LLDP.
Mend:
    With the link up, enable LLDP on the switch and on that port. With the link down, mend the link first (NET001).
含义：
    设备没有发现 LLDP 邻居。接在交换机上的设备必须有邻居。
影响：
    无法知道设备接在交换机的哪个端口。链路断开时，端口可能未插线或未拆分；链路连通时，交换机没有发送 LLDP。
修复：
    链路连通时，在交换机及该端口上开启 LLDP；链路断开时，先修复链路（NET001）。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.cluster import Topology
from rankready.model.finding import Severity
from rankready.model.observed.device import Neighbour
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device without a neighbour; between devices silence alone is no fault."""
    direct = cluster.topology is Topology.DIRECT
    for device in cluster.devices():
        if not seen.unset(device, Neighbour):
            continue
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"no LLDP neighbour is known, planned {'a device' if direct else 'a switch port'}",
                zh=f"没有 LLDP 邻居，规划为{'另一设备' if direct else '交换机端口'}",
            ),
            remedy=Text(
                en="enable LLDP on the switch and on that port, then `rankready cabling`",
                zh="在交换机及该端口上开启 LLDP，然后执行 `rankready cabling`",
            ),
            severity=Severity.NOTE if direct else Severity.ERROR,
        )


CHECK = Check(
    code="CAB001",
    name="lldp_empty",
    title=Text(en="every device hears its neighbour", zh="每个设备都能发现其邻居"),
    scope=Scope.DEVICE,
    needs=(Neighbour,),
    judge=judge,
    after=("NET001",),
)
