"""Two places hold one address.

Means:
    An address stands on more than one device, in more than one /etc/hccn.conf, or is also a gateway's or a server's.
    A line of a file counts for its device: it becomes real at the next start of the device.
Matters:
    Pings may even succeed, at the wrong device. A job then waits for answers that another device got, fails now and
    then, and moves the fault about.
Mend:
    `rankready plan` names the device whose address is not the planned one; `rankready apply` mends device and file.
含义：
    同一地址出现在多个设备、多个 /etc/hccn.conf 中，或同时是网关、服务器的地址。
    文件中的行计入对应设备：设备下次启动时生效。
影响：
    ping 可能成功，但到达的是另一个设备。任务等待被别的设备收走的应答，故障时有时无、位置飘忽。
修复：
    `rankready plan` 指出地址与规划不符的设备；`rankready apply` 同时修正设备与文件。
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.addressing import is_six
from rankready.model.observed.device import DeviceAddress
from rankready.model.observed.host import HccnConf
from rankready.model.place import device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_FILE = "/etc/hccn.conf"


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding at every device that holds an address which something else holds too."""
    foreign = _foreign(cluster)
    for address, holders in _holders(cluster, seen).items():
        for device, sources in holders.items():
            others = [_words(p, s) for p, s in holders.items() if p != device] + foreign.get(address, [])
            if not others:
                continue
            where = "" if "device" in sources else f" ({_FILE})"
            yield finding(
                CHECK.code,
                device,
                Text(
                    en=f"the address {address}{where} is also held by {', '.join(others)}",
                    zh=f"地址 {address}{where} 同时被 {'、'.join(others)} 占用",
                ),
                remedy="rankready plan",
                blames=tuple(p for p in holders if p != device),
            )


def _holders(cluster: Cluster, seen: Seen) -> dict[Address, dict[Place, tuple[str, ...]]]:
    key = "IPv6address" if is_six(cluster.addressing) else "address"
    held: dict[Address, dict[Place, tuple[str, ...]]] = {}
    for device, fact in seen.each(DeviceAddress):
        held.setdefault(fact.interface.ip, {})[device] = ("device",)
    for server, conf in seen.each(HccnConf):
        for line in conf.lines:
            if line.key != key or line.device is None or (address := _parsed(line.value)) is None:
                continue
            places = held.setdefault(address, {})
            device = device_place(server.name, line.device)
            places[device] = (*places.get(device, ()), "file")
    return held


def _foreign(cluster: Cluster) -> dict[Address, list[str]]:
    """Addresses that belong to something other than a device, in words."""
    owned: dict[Address, list[str]] = {}
    for gateway in {a.gateway for a in cluster.addressing.values() if a.gateway is not None}:
        owned.setdefault(gateway, []).append("gateway")
    for server in cluster.servers:
        if server.address is not None:
            owned.setdefault(server.address, []).append(server.name)
    return owned


def _parsed(text: str) -> Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None


def _words(place: Place, sources: tuple[str, ...]) -> str:
    return str(place) if "device" in sources else f"{place} ({_FILE})"


CHECK = Check(
    code="NET003",
    name="address_duplicate",
    title=Text(en="no address is held twice", zh="没有重复的地址"),
    scope=Scope.CLUSTER,
    needs=(DeviceAddress, HccnConf),
    judge=judge,
)
