"""/etc/hccn.conf says something else than the device.

Means:
    The device and the file are two separate truths. The device reads the file when it starts, after a reset and when
    its link is set up by hand; until then they may differ. What is compared is netdetect, and
    address, netmask and gateway of the planned family.
Matters:
    What is right now is lost at the next reboot, and programs that read the file (rank table scripts, transfer
    engines) believe another address than those that ask the device.
Mend:
    `rankready apply` sets the value again, which rewrites the line, and compares both afterwards.
含义：
    设备与文件各自为准。设备在启动、复位、手动拉起链路时读取文件；在此之前两者可以不同。比较规划协议族的地址、掩码、网关，以及检测地址。
影响：
    当前正确的值会在下次重启后丢失；读文件的程序（rank table 脚本、传输引擎）与询问设备的程序得到不同的地址。
修复：
    `rankready apply` 重新设置该值（同时改写文件中的行），并在之后比较两者。
"""

from __future__ import annotations

from ipaddress import IPv4Interface, ip_address
from typing import TYPE_CHECKING

from rankready.kind.check import Check, finding
from rankready.kind.question import Scope
from rankready.model.addressing import is_six
from rankready.model.finding import Severity
from rankready.model.observed.device import DeviceAddress, DeviceGateway, NetDetect
from rankready.model.observed.host import HccnConf
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.addressing import Interface
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_FACTS: dict[str, type] = {
    "address": DeviceAddress,
    "netmask": DeviceAddress,
    "gateway": DeviceGateway,
    "netdetect": NetDetect,
}
# facts/hccn 6: IPv6netmask holds the prefix length; netdetect is of its own family, the tool sets it in IPv4 alone
_KEYS_SIX = {"address": "IPv6address", "netmask": "IPv6netmask", "gateway": "IPv6gateway"}


def judge(cluster: Cluster, seen: Seen) -> Iterator[Finding]:
    """Yield a finding for each key in which file and device differ, and for lines that nothing would read."""
    for server in cluster.servers:
        conf = seen.at(server.place, HccnConf)
        if conf is None and seen.unset(server.place, HccnConf):
            conf = HccnConf(lines=())
        if conf is None:
            continue
        for problem in conf.problems:
            yield finding(
                CHECK.code,
                server.place,
                Text(en=f"/etc/hccn.conf: {problem}", zh=f"/etc/hccn.conf：{problem}"),
                remedy=Text(en="remove or correct that line", zh="删除或更正该行"),
                severity=Severity.WARNING,
            )
        keys = _KEYS_SIX if is_six(cluster.addressing) else {}
        for device in server.device_places():
            yield from _differences(device, conf, seen, keys)


def _differences(device: Place, conf: HccnConf, seen: Seen, keys: Mapping[str, str]) -> Iterator[Finding]:
    for what, fact in _FACTS.items():
        live = _live(device, what, seen)
        if not live and not seen.unset(device, fact):
            continue
        key = keys.get(what, what)
        line = conf.value(key, device.device)
        stored = _prefix(line) if key == "IPv6netmask" else _stored(line)
        if live == stored:
            continue
        yield finding(
            CHECK.code,
            device,
            Text(
                en=f"{key}: /etc/hccn.conf has {stored or 'no line'}, the device has {live or 'none'}",
                zh=f"{key}：/etc/hccn.conf 中为 {stored or '无'}，设备上为 {live or '无'}",
            ),
            remedy="rankready apply",
        )


def _live(device: Place, key: str, seen: Seen) -> str:
    """Return what stands on the device, empty where nothing is set or nothing is known."""
    address = seen.at(device, DeviceAddress)
    gateway = seen.at(device, DeviceGateway)
    netdetect = seen.at(device, NetDetect)
    match key:
        case "address":
            return str(address.interface.ip) if address else ""
        case "netmask":
            return _mask(address.interface) if address else ""
        case "gateway":
            return str(gateway.address) if gateway else ""
        case _:
            return str(netdetect.target) if netdetect else ""


def _mask(interface: Interface) -> str:
    """Return the mask as the file holds it: dotted in IPv4, the prefix length in IPv6."""
    return str(interface.netmask if isinstance(interface, IPv4Interface) else interface.network.prefixlen)


def _prefix(value: str | None) -> str:
    """Return the file's prefix length in the form in which the device's is written."""
    if value is None:
        return ""
    return str(int(value)) if value.isascii() and value.isdecimal() and len(value) <= len("128") else repr(value[:60])


def _stored(value: str | None) -> str:
    """Return the file's value in the form in which the device's is written; 0.0.0.0 stands for none."""
    if value is None:
        return ""
    try:
        address = ip_address(value)
    except ValueError:
        return repr(value[:60])
    return "" if address.is_unspecified else str(address)


CHECK = Check(
    code="NET006",
    name="conf_differs",
    title=Text(en="/etc/hccn.conf agrees with the devices", zh="/etc/hccn.conf 与设备一致"),
    scope=Scope.CLUSTER,
    needs=(HccnConf, DeviceAddress, DeviceGateway, NetDetect),
    judge=judge,
    after=("NET002", "NET003", "NET004", "NET005", "NET007"),
)
