"""Reads addresses of a device: its own, its gateway, its netdetect target, its vNIC (facts/hccn 3.1)."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Interface
from typing import TYPE_CHECKING

from rankready.kind.reading import address, interface, lines, shown, unexpected
from rankready.model.observed.device import (
    BondAddresses,
    DeviceAddress,
    DeviceAddressV6,
    DeviceGateway,
    DeviceGatewayV6,
    LinkState,
    NetDetect,
    Vnic,
)
from rankready.model.snapshot import Gap, GapKind
from rankready.tools._hccn_words import exactly, one, payload, refusal

if TYPE_CHECKING:
    from ipaddress import IPv4Interface

    from rankready.model.command import Reply

_IP = re.compile(r"\s*ipaddr:\s*(\S+)\s*", re.ASCII)
_MASK = re.compile(r"\s*netmask:\s*(\S+)\s*", re.ASCII)
_IP6 = re.compile(r"\s*ipv6_address:\s*(\S+)\s*", re.ASCII)
_PREFIX = re.compile(r"\s*prefix_length:\s*(\d{1,3})\s*", re.ASCII)
_GATEWAY = re.compile(r"(?:default )?gateway:\s*([^,\s]+)(?:,\s*Iface:\s*([\w.-]+))?\s*", re.ASCII)
_NETDETECT = re.compile(r"netdetect addr(?:ess)?:\s*(\S+)\s*", re.ASCII)
_VNIC = (
    re.compile(r"vnic link status:\s*(UP|DOWN)\s*", re.ASCII),
    re.compile(r"vnic ipaddr:\s*(\S+)\s*", re.ASCII),
    re.compile(r"vnic netmask:\s*(\S+)\s*", re.ASCII),
)
_BONDED = 2
_NO_IP = "no ip was preset"
_NO_GATEWAY = "no gateway was preset"


def read_ip(reply: Reply) -> DeviceAddress | Gap:
    """Read `-ip -g`. A pair said twice alike is one; two different pairs are a Gap.

    Silence with exit 0 is UNSET as well: one source knows the unset answer as empty output (facts/hccn 15).
    """
    if refusal(reply, unset=_NO_IP) is None and not lines(reply.stdout):
        return Gap("the tool said nothing: no address is set", GapKind.UNSET, "工具没有输出：未设置地址")
    pairs = _pairs(reply)
    if isinstance(pairs, Gap):
        return pairs
    if len(set(pairs)) > 1:
        return Gap(
            f"several addresses for one device: {', '.join(str(p) for p in pairs)}",
            zh=f"一个设备有多个地址：{', '.join(str(p) for p in pairs)}",
        )
    return DeviceAddress(interface=pairs[0])


def read_bond(reply: Reply) -> BondAddresses | Gap:
    """Read `-bond -ip -g` (Atlas 9000 A3): one pair for each of its two ports."""
    pairs = _pairs(reply)
    if isinstance(pairs, Gap):
        return pairs
    if len(pairs) != _BONDED or len(set(pairs)) != _BONDED:
        return Gap(f"{len(pairs)} addresses for the two ports of a bond", zh=f"绑定的两个端口有 {len(pairs)} 个地址")
    return BondAddresses(interfaces=pairs)


def read_ip6(reply: Reply) -> DeviceAddressV6 | Gap:
    """Read `-ip -inet6 -g`."""
    said = payload(reply, unset=_NO_IP)
    if isinstance(said, Gap):
        return said
    ip = _IP6.fullmatch(said[0])
    prefix = _PREFIX.fullmatch(said[1]) if len(said) == 2 else None  # noqa: PLR2004  (address and prefix)
    if ip is None or prefix is None:
        return unexpected(said)
    try:
        found = IPv6Interface(f"{ip[1]}/{prefix[1]}")
    except ValueError:
        return unexpected(said)
    if found.ip.is_unspecified or not found.network.prefixlen:
        return unexpected(said)
    return DeviceAddressV6(interface=found)


def read_gateway(reply: Reply) -> DeviceGateway | Gap:
    """Read `-gateway -g`; old labels carry the interface, A5 does not."""
    found = _gateway(reply)
    if isinstance(found, Gap):
        return found
    ip, iface = found
    return (
        DeviceGateway(address=ip, iface=iface)
        if isinstance(ip, IPv4Address)
        else Gap(f"{ip} is no IPv4 gateway", zh=f"{ip} 不是 IPv4 网关")
    )


def read_gateway6(reply: Reply) -> DeviceGatewayV6 | Gap:
    """Read `-gateway -inet6 -g`."""
    found = _gateway(reply)
    if isinstance(found, Gap):
        return found
    ip, iface = found
    return (
        DeviceGatewayV6(address=ip, iface=iface)
        if isinstance(ip, IPv6Address)
        else Gap(f"{ip} is no IPv6 gateway", zh=f"{ip} 不是 IPv6 网关")
    )


def read_netdetect(reply: Reply) -> NetDetect | Gap:
    """Read `-netdetect -g` under both of its labels; 0.0.0.0 means that no target is set."""
    match = one(reply, _NETDETECT)
    if isinstance(match, Gap):
        return match
    target = address(match[1])
    if target is None:
        return unexpected(match[0])
    return (
        Gap("no netdetect target is set", GapKind.UNSET, "未设置 netdetect 目标")
        if target.is_unspecified
        else NetDetect(target=target)
    )


def read_vnic(reply: Reply) -> Vnic | Gap:
    """Read `-vnic -g`: exactly three lines. Informational on A1 and A2 (facts/hccn 15)."""
    found = exactly(reply, *_VNIC)
    if isinstance(found, Gap):
        return found
    state, ip, mask = found
    joined = interface(ip[1], mask[1])
    return unexpected(ip[0]) if joined is None else Vnic(state=LinkState(state[1]), interface=joined)


def _gateway(reply: Reply) -> tuple[IPv4Address | IPv6Address, str] | Gap:
    match = one(reply, _GATEWAY, unset=_NO_GATEWAY)
    if isinstance(match, Gap):
        return match
    ip = address(match[1])
    return unexpected(match[0]) if ip is None or ip.is_unspecified else (ip, match[2] or "")


def _pairs(reply: Reply) -> tuple[IPv4Interface, ...] | Gap:
    said = payload(reply, unset=_NO_IP)
    if isinstance(said, Gap):
        return said
    if len(said) % 2:
        return Gap(
            f"an address without its mask, or a mask without its address: {shown(said[-1])}",
            zh=f"有地址无掩码，或有掩码无地址：{shown(said[-1])}",
        )
    found = []
    for ip_line, mask_line in zip(said[::2], said[1::2], strict=True):
        ip, mask = _IP.fullmatch(ip_line), _MASK.fullmatch(mask_line)
        joined = interface(ip[1], mask[1]) if ip and mask else None
        if joined is None:
            return unexpected(f"{ip_line} / {mask_line}")
        found.append(joined)
    return tuple(found)
