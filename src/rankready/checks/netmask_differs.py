"""A device carries another netmask than planned.

Means:
    The mask decides which addresses the device looks for on its own network. This one is not the planned one.
Matters:
    The device reaches some peers and not others, by address range; the others see no cause on their side.
Mend:
    `rankready plan` shows the change, `rankready apply` makes it.
含义：
    掩码决定设备把哪些地址当作本网段。该设备的掩码与规划不一致。
影响：
    设备能到达一部分对端、到不了另一部分，取决于地址范围；对端看不出原因。
修复：
    `rankready plan` 显示变更，`rankready apply` 执行变更。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.observed.device import DeviceAddress
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device whose mask is not the planned one."""
    for device, address in seen.each(DeviceAddress):
        planned = cluster.planned(device)
        if planned is None or address.interface.netmask == planned.interface.netmask:
            continue
        have, want = address.interface, planned.interface
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"the netmask is {have.netmask} (/{have.network.prefixlen}), "
                f"planned {want.netmask} (/{want.network.prefixlen})",
                zh=f"掩码为 {have.netmask}（/{have.network.prefixlen}），"
                f"规划为 {want.netmask}（/{want.network.prefixlen}）",
            ),
            remedy="rankready plan",
        )


CHECK = Check(
    code="NET004",
    name="netmask_differs",
    title=Text(en="netmasks are as planned", zh="掩码与规划一致"),
    scope=Scope.DEVICE,
    needs=(DeviceAddress,),
    judge=judge,
)
