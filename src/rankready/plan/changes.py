"""What must be set so that devices and their file carry what is planned."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING

from rankready.model.change import Change, Plan, What
from rankready.model.observed.device import (
    DeviceAddress,
    DeviceAddressV6,
    DeviceGateway,
    DeviceGatewayV6,
    NetDetect,
)
from rankready.model.observed.host import HccnConf
from rankready.model.place import server_place
from rankready.model.snapshot import GapKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.addressing import Address, DeviceAddressing, Interface
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.model.snapshot import Gap, Seen

    Conf = Mapping[str, str]

# facts/hccn 6: the file's keys by family; IPv6netmask holds the prefix length
_KEYS = {
    4: ("address", "netmask", "gateway", "netdetect"),
    6: ("IPv6address", "IPv6netmask", "IPv6gateway", "IPv6netdetect"),
}


def changes(cluster: Cluster, seen: Seen) -> Plan:
    """Compare what is planned with what each device and its /etc/hccn.conf say; cluster order, then order of setting.

    A device of which something that is planned could not be read gets no change and stands in ``unread``; so does a
    server whose file could not be read. A gateway is set again after every change of address, because the tool drops
    it (facts/hccn 3.1). What is not planned is left alone: the tool can't delete a gateway or a target.
    """
    found: list[Change] = []
    unread: list[tuple[Place, Text]] = []
    for server in cluster.servers:
        files, gap = _conf(server.name, seen)
        if gap is not None:
            unread.append((server.place, _about("hccn.conf", gap)))
        for place in server.device_places():
            planned = cluster.planned(place)
            if planned is None:
                unread.append((place, Text(en="nothing is planned for it", zh="没有为其规划任何值")))
                continue
            reason = _unread(place, planned, seen)
            if reason is not None:
                unread.append((place, reason))
                continue
            conf = None if files is None else files.get(place.device, {})
            found += _device_changes(_Device(place=place, planned=planned, seen=seen, conf=conf))
    return Plan(changes=tuple(found), unread=tuple(unread))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Device:
    """One device: what is planned, what it says, what its lines in the file say (None: not known)."""

    place: Place
    planned: DeviceAddressing
    seen: Seen
    conf: Conf | None


def _device_changes(device: _Device) -> Iterator[Change]:
    address = _address_change(device)
    if address is not None:
        yield address
    gateway = _gateway_change(device, again=address is not None)
    if gateway is not None:
        yield gateway
    target = _target_change(device)
    if target is not None:
        yield target


def _address_change(device: _Device) -> Change | None:
    planned = device.planned.interface
    fact = device.seen.at(device.place, _address_fact(device.planned))
    before = None if fact is None else fact.interface
    reason = _address_reason(before, planned) or _conf_reason(device, 0, 1)
    if reason is None:
        return None
    lost = _lost_gateway(device)
    if lost is not None:
        reason = Text(en=f"{reason.en}; {lost.en}", zh=f"{reason.zh}；{lost.zh}")
    return Change(
        place=device.place,
        what=What.ADDRESS,
        before="" if before is None else str(before),
        after=str(planned),
        reason=reason.en,
        reason_zh=reason.zh,
    )


_NOT_SET = Text(en="not set", zh="未设置")
_SET_AGAIN = Text(en="set again: a change of address drops it", zh="重新设置：更改地址会使其丢失")


def _address_reason(before: Interface | None, planned: Interface) -> Text | None:
    if before is None:
        return _NOT_SET
    if before.ip != planned.ip:
        return Text(en="address differs", zh="地址不同")
    return Text(en="netmask differs", zh="掩码不同") if before.network != planned.network else None


def _lost_gateway(device: _Device) -> Text | None:
    """No gateway is planned, and the one that is there will not survive the address."""
    fact = device.seen.at(device.place, _gateway_fact(device.planned))
    if fact is None or device.planned.gateway is not None or fact.address in device.planned.interface.network:
        return None
    return Text(
        en=f"gateway {fact.address} lies outside the planned segment and will be dropped",
        zh=f"网关 {fact.address} 不在规划网段内，将被丢弃",
    )


def _gateway_change(device: _Device, *, again: bool) -> Change | None:
    planned = device.planned.gateway
    if planned is None:
        return None
    fact = device.seen.at(device.place, _gateway_fact(device.planned))
    reason = _value_reason(None if fact is None else fact.address, planned) or _conf_reason(device, 2)
    if reason is None and again:
        reason = _SET_AGAIN
    return _change(device, What.GATEWAY, before=None if fact is None else fact.address, after=planned, reason=reason)


def _target_change(device: _Device) -> Change | None:
    planned = device.planned.netdetect
    if planned is None:
        return None
    fact = device.seen.at(device.place, NetDetect)
    before = None if fact is None else fact.target
    reason = _value_reason(before, planned) or _conf_reason(device, 3)
    return _change(device, What.NETDETECT, before=before, after=planned, reason=reason)


def _value_reason(before: Address | None, planned: Address) -> Text | None:
    if before is None:
        return _NOT_SET
    return None if before == planned else Text(en="differs", zh="不同")


def _change(
    device: _Device, what: What, *, before: Address | None, after: Address, reason: Text | None
) -> Change | None:
    if reason is None:
        return None
    old = "" if before is None else str(before)
    return Change(place=device.place, what=what, before=old, after=str(after), reason=reason.en, reason_zh=reason.zh)


def _conf_reason(device: _Device, *columns: int) -> Text | None:
    """Say how the file's lines differ from the plan; None when they don't, or when the file is not known."""
    if device.conf is None:
        return None
    keys = _KEYS[device.planned.interface.version]
    for column in columns:
        line = device.conf.get(keys[column])
        name = f"{keys[column]}_{device.place.device}"
        if line is None:
            return Text(en=f"hccn.conf has no {name}", zh=f"hccn.conf 中没有 {name}")
        if not _line_says(line, column, device.planned):
            return Text(en=f"hccn.conf has another {name}", zh=f"hccn.conf 中的 {name} 与规划不同")
    return None


def _line_says(line: str, column: int, planned: DeviceAddressing) -> bool:
    wanted = (planned.interface.ip, None, planned.gateway, planned.netdetect)[column]
    try:
        if wanted is None:
            return (
                ip_interface(f"{planned.interface.ip}/{line}").network.prefixlen == planned.interface.network.prefixlen
            )
        return ip_address(line) == wanted
    except ValueError:
        return False


def _conf(server: str, seen: Seen) -> tuple[dict[int, dict[str, str]] | None, Gap | None]:
    """Return key → value by device (the first line of a key is the one that is read), or why it is not known."""
    place = server_place(server)
    fact = seen.at(place, HccnConf)
    if fact is None:
        gap = seen.gap(place, HccnConf)
        return ({}, None) if gap is not None and gap.kind is GapKind.UNSET else (None, gap)
    by_device: dict[int, dict[str, str]] = {}
    for line in fact.lines:
        if line.device is not None:
            by_device.setdefault(line.device, {}).setdefault(line.key, line.value)
    return by_device, None


def _unread(place: Place, planned: DeviceAddressing, seen: Seen) -> Text | None:
    """Return why something that is planned could not be compared; None when all of it was read."""
    needed: list[tuple[str, type]] = [("address", _address_fact(planned))]
    needed += [("gateway", _gateway_fact(planned))] if planned.gateway is not None else []
    needed += [("netdetect", NetDetect)] if planned.netdetect is not None else []
    for name, fact in needed:
        gap = seen.gap(place, fact)
        if gap is not None and gap.kind is not GapKind.UNSET:
            return _about(name, gap)
    return None


def _about(name: str, gap: Gap) -> Text:
    return Text(en=f"{name}: {gap.why.en}", zh=f"{name}：{gap.why.zh}")


def _address_fact(planned: DeviceAddressing) -> type[DeviceAddress | DeviceAddressV6]:
    return DeviceAddress if planned.interface.version == 4 else DeviceAddressV6  # noqa: PLR2004  (the family)


def _gateway_fact(planned: DeviceAddressing) -> type[DeviceGateway | DeviceGatewayV6]:
    return DeviceGateway if planned.interface.version == 4 else DeviceGatewayV6  # noqa: PLR2004  (the family)
