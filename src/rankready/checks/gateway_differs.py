"""A device has another gateway than planned, or none.

Means:
    The plan gives this segment a gateway; the device has another one or none at all. A new address drops a gateway
    that lies outside its segment without a word.
Matters:
    Peers of other segments are out of reach; peers of the own segment are not affected.
Mend:
    `rankready plan` shows the change, `rankready apply` makes it.
含义：
    规划为该网段指定了网关；设备上的网关不同或没有。设置新地址会悄悄清除不在其网段内的网关。
影响：
    到不了其他网段的设备；本网段不受影响。
修复：
    `rankready plan` 显示变更，`rankready apply` 执行变更。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.observed.device import DeviceGateway
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device that should have a gateway and has another one or none."""
    for device, planned in cluster.addressing.items():
        want = planned.gateway
        if want is None:
            continue
        gateway = seen.at(device, DeviceGateway)
        if gateway is None and seen.unset(device, DeviceGateway):
            said = Text(en=f"no gateway is set, planned {want}", zh=f"未设置网关，规划为 {want}")
        elif gateway is not None and gateway.address != want:
            said = Text(
                en=f"the gateway is {gateway.address}, planned {want}",
                zh=f"网关为 {gateway.address}，规划为 {want}",
            )
        else:
            continue
        yield finding(CHECK.code, device, said, remedy="rankready plan")


CHECK = Check(
    code="NET005",
    name="gateway_differs",
    title=Text(en="gateways are as planned", zh="网关与规划一致"),
    scope=Scope.DEVICE,
    needs=(DeviceGateway,),
    judge=judge,
    after=("NET002", "NET004"),
)
