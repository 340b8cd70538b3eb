"""A device carries another address than planned, or none.

Means:
    The address on the device is not the one that the plan gives it. Only the address is compared here; the mask has
    a check of its own (NET004).
Matters:
    Peers look for the device at its planned address and wait for it until they time out (EI0006); a rank table
    written from the plan is wrong (EI0014).
Mend:
    `rankready plan` shows the change, `rankready apply` makes it.
含义：
    设备上的地址与规划不一致，或未设置。此处只比较地址；掩码由 NET004 检查。
影响：
    其他设备按规划地址寻找它，直到超时（EI0006）；按规划写出的 rank table 也是错的（EI0014）。
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
    """Yield a finding for each planned device whose address is another one or is not set."""
    for device, planned in cluster.addressing.items():
        want = planned.interface.ip
        address = seen.at(device, DeviceAddress)
        if address is None and seen.unset(device, DeviceAddress):
            said = Text(en=f"no address is set, planned {want}", zh=f"未设置地址，规划为 {want}")
        elif address is not None and address.interface.ip != want:
            have = address.interface.ip
            said = Text(en=f"the address is {have}, planned {want}", zh=f"地址为 {have}，规划为 {want}")
        else:
            continue
        yield finding(CHECK.code, device, said, remedy="rankready plan")


CHECK = Check(
    code="NET002",
    name="address_differs",
    title=Text(en="addresses are as planned", zh="地址与规划一致"),
    scope=Scope.DEVICE,
    needs=(DeviceAddress,),
    judge=judge,
    after=("NET003",),
)
