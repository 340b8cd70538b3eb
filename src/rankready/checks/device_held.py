"""A job holds a device.

Means:
    A process on the server uses the device's network, or the server lists processes on the chip.
Matters:
    A second job on the same device fails to bind its port or to open the device, and setting addresses under a
    running job breaks that job.
Mend:
    Wait, or stop that job by its own means. After a kill, give the device ten seconds.
含义：
    服务器上有进程占用该设备的网络，或芯片上列有进程。
影响：
    同一设备上的第二个任务无法绑定端口或打开设备；在任务运行时设置地址会中断该任务。
修复：
    等待，或用该任务自己的方式停止它。强制结束后，请等待十秒。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Severity
from rankready.model.observed.device import DeviceHeld
from rankready.model.observed.host import Chips
from rankready.model.place import server_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.cluster import Cluster, Server
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_SHOWN = 3


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a warning for each device that a process holds, and for a server whose list names chips by no device."""
    for server in cluster.servers:
        yield from _on_unnamed_chips(server, seen)
    for device in cluster.devices():
        held = seen.at(device, DeviceHeld)
        processes = _processes(device, seen)
        if not processes and (held is None or not held.held):
            continue
        listed = f" ({', '.join(processes)})" if processes else ""
        yield finding(
            CHECK.code,
            device,
            Text(en=f"a job holds this device{listed}, planned free", zh=f"有任务占用该设备{listed}，规划为空闲"),
            remedy="rankready ps",
            severity=Severity.WARNING,
        )


def _on_unnamed_chips(server: Server, seen: Seen) -> Iterator[Finding]:
    """Yield what is listed on more chips than there are devices held: lists of A1 and A2 tell no physical ids.

    Where only some of the server's devices are judged, a chip without an id may be any other: nothing is said.
    """
    chips = seen.at(server.place, Chips)
    if chips is None or len(chips.chips) != len(server.devices) or any(c.physical is not None for c in chips.chips):
        return
    busy = {(npu, chip) for npu, chip, _, _ in chips.processes}
    held = [d for d in server.device_places() if (fact := seen.at(d, DeviceHeld)) is not None and fact.held]
    if len(busy) <= len(held):
        return
    listed = ", ".join(
        f"NPU {npu} chip {chip}: {pid} {name}".strip() for npu, chip, pid, name in chips.processes[:_SHOWN]
    )
    more = f", +{len(chips.processes) - _SHOWN}" if len(chips.processes) > _SHOWN else ""
    yield finding(
        CHECK.code,
        server.place,
        Text(
            en=f"processes are listed on {len(busy)} chips ({listed}{more}), planned none",
            zh=f"{len(busy)} 个芯片上列有进程（{listed}{more}），规划为空闲",
        ),
        remedy="rankready ps",
        severity=Severity.WARNING,
    )


def _processes(device: Place, seen: Seen) -> list[str]:
    """Return `pid name` of each process that the server lists on the chip with this physical id."""
    chips = seen.at(server_place(device.name), Chips)
    if chips is None:
        return []
    ids = {(c.npu, c.chip) for c in chips.chips if c.physical == device.device}
    return [f"{pid} {name}".strip() for npu, chip, pid, name in chips.processes if (npu, chip) in ids]


CHECK = Check(
    code="JOB001",
    name="device_held",
    title=Text(en="devices are free", zh="设备空闲"),
    scope=Scope.DEVICE,
    needs=(DeviceHeld,),
    judge=judge,
    severity=Severity.WARNING,
)
