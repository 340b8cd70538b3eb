"""Devices have different versions of the network firmware.

Means:
    The network firmware of this device is not the one that most devices have. On a tie both versions are named. A card
    that was replaced, or an upgrade that did not reach every device, leaves it so.
Matters:
    Mixed firmware works until it does not: what a device supports, and how it recovers, depends on it.
Mend:
    Bring all devices to one firmware, with the driver that belongs to it; a restart of the server follows.
含义：
    该设备的网络固件版本与多数设备不同；各占一半时两者都会列出。更换过的卡，或未覆盖全部设备的升级，会造成这种情况。
影响：
    混用固件可能一时可用；设备的支持范围与恢复方式取决于固件。
修复：
    把所有设备统一到同一固件及配套驱动，之后需重启服务器。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.majority import mixed
from rankready.model.observed.device import NetVersions
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen

_REMEDY = Text(en="bring all devices to one firmware version", zh="把所有设备统一到同一固件版本")


def judge(_: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each device whose firmware is not that of most."""
    for device, version, others in mixed({device: fact.firmware for device, fact in seen.each(NetVersions)}):
        most = ", ".join(others)
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"the network firmware is {version}, other devices have {most}",
                zh=f"网络固件版本为 {version}，其他设备为 {most}",
            ),
            remedy=_REMEDY,
            severity=Severity.WARNING,
        )


CHECK = Check(
    code="VER003",
    name="firmware_mixed",
    title=Text(en="devices share one network firmware", zh="设备网络固件版本一致"),
    scope=Scope.CLUSTER,
    needs=(NetVersions,),
    judge=judge,
    severity=Severity.WARNING,
)
