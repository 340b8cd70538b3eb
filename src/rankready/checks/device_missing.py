"""A server shows other devices than cluster.yaml says.

Means:
    A device that the cluster file names is not there; or there are devices that the file does not name, which is
    only noted.
Matters:
    A job that counts on the device does not start. A lost NPU simply disappears from every list.
Mend:
    Look for the device on the bus and in the BMC. If the server has fewer devices, say so under its `devices`.
含义：
    cluster.yaml 中的设备在服务器上不存在；或服务器上有文件未列出的设备（仅提示）。
影响：
    依赖该设备的任务无法启动。丢失的 NPU 会从所有列表中直接消失。
修复：
    在总线与 BMC 上查找该设备。如果服务器本来就没有这些设备，请在其 `devices` 中写明。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.host import Chips, DeviceFiles
from rankready.model.place import device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster, Server
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Seen


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each device that is not there, and a note for those that nobody named."""
    for server in cluster.servers:
        files, chips = seen.at(server.place, DeviceFiles), seen.at(server.place, Chips)
        lists = _lists(files, chips)
        present = frozenset.intersection(*lists) if lists else None
        for device in server.devices if present is not None else ():
            if device not in (present or ()):
                yield _missing(server, device)
        yield from _surplus(server, frozenset[int]().union(*lists))
        if present is None and chips is not None:
            yield from _uncounted(server, len(chips.chips))
        if chips is not None:
            yield from _unlisted(server, present, len(chips.chips))


def _lists(files: DeviceFiles | None, chips: Chips | None) -> list[frozenset[int]]:
    """Return the physical ids by each list that tells them: a device is there if all name it, extra if any does."""
    lists = [] if files is None else [frozenset(files.devices)]
    if chips is not None and chips.chips and all(c.physical is not None for c in chips.chips):
        lists.append(frozenset(c.physical for c in chips.chips if c.physical is not None))
    return lists


def _missing(server: Server, device: int) -> Finding:
    return finding(
        CHECK.code,
        device_place(server.name, device),
        Text(
            en=f"device {device} is not there, planned on {server.name}",
            zh=f"设备 {device} 不存在，规划在 {server.name}",
        ),
        remedy=_REMEDY,
    )


def _unlisted(server: Server, present: frozenset[int] | None, count: int) -> Iterator[Finding]:
    """Yield a finding where fewer devices are listed than there should be: a list without physical ids counts only.

    A device that left the bus may leave its /dev/davinciN behind. What is missed by name already is not counted again;
    where the devices of the cluster file may all be among those listed, it is a warning.
    """
    planned = frozenset(server.devices)
    expected = planned if present is None else present
    if count >= len(expected):
        return
    yield finding(
        CHECK.code,
        server.place,
        Text(
            en=f"{count} of {len(expected)} devices are listed, planned {len(planned)}",
            zh=f"{len(expected)} 个设备中只列出 {count} 个，规划为 {len(planned)} 个",
        ),
        remedy=_REMEDY,
        severity=Severity.ERROR if count < len(expected & planned) else Severity.WARNING,
    )


def _surplus(server: Server, named: frozenset[int]) -> Iterator[Finding]:
    surplus = sorted(named - frozenset(server.devices))
    if surplus:
        listed = ", ".join(map(str, surplus))
        yield _extra(
            server,
            Text(
                en=f"devices {listed} are there, but not in the cluster file",
                zh=f"设备 {listed} 存在，但不在 cluster.yaml 中",
            ),
        )


def _uncounted(server: Server, count: int) -> Iterator[Finding]:
    """Yield a note where no list tells physical ids, and more devices are listed than planned."""
    planned = len(server.devices)
    if count > planned:
        yield _extra(
            server,
            Text(
                en=f"{count} devices are listed, planned {planned}: {count - planned} are not in the cluster file",
                zh=f"列出 {count} 个设备，规划为 {planned} 个：{count - planned} 个不在 cluster.yaml 中",
            ),
        )


def _extra(server: Server, said: Text) -> Finding:
    remedy = Text(en="name them under `devices` if they are to be used", zh="如需使用，请写入 `devices`")
    return finding(CHECK.code, server.place, said, remedy=remedy, severity=Severity.NOTE)


_REMEDY = Text(
    en="look for the device on the PCIe bus and in the BMC, or correct `devices` in the cluster file",
    zh="在 PCIe 总线与 BMC 上查找该设备，或更正 cluster.yaml 中的 `devices`",
)

CHECK = Check(
    code="HST002",
    name="device_missing",
    title=Text(en="servers show the devices of the cluster file", zh="服务器上的设备与 cluster.yaml 一致"),
    scope=Scope.SERVER,
    needs=(Chips, DeviceFiles),
    judge=judge,
)
