"""Two devices hear the same switch port.

Means:
    LLDP names one port of one switch at the end of several cables. A port takes one cable; a divided 400G port names
    its halves apart. Or two switches carry one name: then their chassis ids differ.
Matters:
    One of the two does not hang where it seems to, so nobody can say where its cable ends. With two switches of one
    name the network may be well, but every statement about a port is about one of two.
Mend:
    Follow both cables by hand. A neighbour that was unplugged is remembered for two minutes: look again after that.
    Give every switch a name of its own.
含义：
    LLDP 指出多根线缆接在同一交换机的同一端口。一个端口只接一根线缆；拆分的 400G 端口会分别命名。
    或者两台交换机同名：此时它们的 chassis id 不同。
影响：
    其中一个设备实际并不接在那里，无法知道其线缆的去向。两台交换机同名时网络可能正常，但关于端口的说法都有歧义。
修复：
    人工沿两根线缆检查。拔下的邻居会保留两分钟，之后再看一次。为每台交换机设置各自的名称。
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.checks._cable_layout import ends, shared_ports
from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Severity
from rankready.model.observed.device import Neighbour
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_SHOWN = 3


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding at each device of a port that others hear too; a warning where two switches share a name."""
    for port, devices in shared_ports(ends(cluster, seen)).items():
        chassis = [n.chassis for d in devices if (n := seen.at(d, Neighbour)) is not None]
        names = all(chassis) and len(set(chassis)) == len(chassis)
        for device in devices:
            others = [d for d in devices if d != device]
            yield _same_name(port, device, others) if names else _same_port(port, device, others)


def _same_port(port: Place, device: Place, others: Sequence[Place]) -> Finding:
    return finding(
        CHECK.code,
        device,
        Text(
            en=f"its port {port.name} {port.port} is heard by {_listed(others)} as well, planned one cable a port",
            zh=f"所接端口 {port.name} {port.port} 也被 {_listed(others)} 发现，规划为每个端口一根线缆",
        ),
        remedy=Text(
            en="look again in two minutes; if it stays, follow both cables by hand",
            zh="两分钟后再看一次；若仍如此，人工沿两根线缆检查",
        ),
        certainty=Certainty.LIKELY,
    )


def _same_name(port: Place, device: Place, others: Sequence[Place]) -> Finding:
    return finding(
        CHECK.code,
        device,
        Text(
            en=f"several switches are called {port.name}: {_listed(others)} hears {port.port} of another",
            zh=f"有多台交换机都名为 {port.name}：{_listed(others)} 发现的 {port.port} 属于另一台",
        ),
        remedy=Text(en="give every switch a name of its own", zh="为每台交换机设置各自的名称"),
        severity=Severity.WARNING,
    )


def _listed(devices: Sequence[Place]) -> str:
    more = f" (+{len(devices) - _SHOWN})" if len(devices) > _SHOWN else ""
    return ", ".join(map(str, devices[:_SHOWN])) + more


CHECK = Check(
    code="CAB005",
    name="port_shared",
    title=Text(en="every port has one device", zh="每个端口只接一个设备"),
    scope=Scope.DEVICE,
    needs=(Neighbour,),
    judge=judge,
)
