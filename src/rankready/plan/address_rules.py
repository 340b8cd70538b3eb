"""Rules about one device's address, gateway and probe target, and about two devices with one address."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv6Interface
from typing import TYPE_CHECKING

from rankready.model.change import Problem
from rankready.model.text import Text
from rankready.plan.layout import host_addresses
from rankready.plan.ranges import (
    NO_UNICAST,
    all_ends,
    ends,
    hosts,
    is_broadcast_address,
    is_network_address,
    spans,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.product import Product
    from rankready.model.addressing import DeviceAddressing, Network
    from rankready.model.place import Place
    from rankready.plan.scene import Scene


def duplicates(scene: Scene) -> Iterator[Problem]:
    """Two devices with one address, on one server or on several."""
    holders: dict[tuple[int, int], list[Place]] = {}
    for place, claim in scene.claims.items():
        holders.setdefault((claim.interface.version, int(claim.interface)), []).append(place)
    for places in holders.values():
        if len(places) == 1:
            continue
        servers = {place.name for place in places}
        ip = scene.claims[places[0]].interface.ip
        words = _words(places)
        yield Problem(
            rule="duplicate_in_server" if len(servers) == 1 else "duplicate_across_servers",
            places=tuple(places),
            message=f"address {ip} is planned for {len(places)} devices: {words}",
            zh=f"地址 {ip} 规划给了 {len(places)} 个设备：{words}",
        )


def equals_gateway(scene: Scene) -> Iterator[Problem]:
    """An address that is the gateway of any segment."""
    gateways = {c.gateway for c in scene.claims.values() if c.gateway is not None}
    gateways |= {s.gateway for s in scene.cluster.parameter_plane.segments if s.gateway is not None}
    numbers = {(g.version, int(g)) for g in gateways}
    for place, claim in scene.claims.items():
        if numbers and (claim.interface.version, int(claim.interface)) in numbers:
            yield _one(
                "equals_gateway",
                place,
                f"{claim.interface.ip} planned for {place} is the gateway of a segment",
                f"{place} 的规划地址 {claim.interface.ip} 是网段的网关",
            )


def ends_of_segment(scene: Scene) -> Iterator[Problem]:
    """An address that is the network or broadcast address of its own segment."""
    for place, claim in scene.claims.items():
        interface = claim.interface
        if is_network_address(interface):
            yield _one(
                "is_network_address",
                place,
                f"{interface} planned for {place} is the network address of its segment",
                f"{place} 的规划地址 {interface} 是所在网段的网络地址",
            )
        elif is_broadcast_address(interface):
            yield _one(
                "is_broadcast_address",
                place,
                f"{interface} planned for {place} is the broadcast address of its segment",
                f"{place} 的规划地址 {interface} 是所在网段的广播地址",
            )


def reserved_range(scene: Scene) -> Iterator[Problem]:
    """An address, a listed segment or a pool inside a range that the product refuses."""
    closed = (*scene.product.reserved, *NO_UNICAST)
    by_family = {version: spans(all_ends(closed, version)) for version in (4, 6)}
    plane = scene.cluster.parameter_plane
    for network in (*(s.network for s in plane.segments), *((plane.pool,) if plane.pool is not None else ())):
        if inside := next((r for r in closed if within(network, r)), None):
            closed_to = _closed_to(scene.product, inside)
            yield _one(
                "reserved_range",
                scene.cluster.place,
                f"{network} lies in {inside}, which {closed_to.en}",
                f"{network} 位于 {inside} 内，{closed_to.zh}",
            )
    for place, claim in scene.claims.items():
        if by_family[claim.interface.version].holds(int(claim.interface)):
            inside = next(r for r in closed if claim.interface.ip in r)
            closed_to = _closed_to(scene.product, inside)
            yield _one(
                "reserved_range",
                place,
                f"{claim.interface.ip} planned for {place} lies in {inside}, which {closed_to.en}",
                f"{place} 的规划地址 {claim.interface.ip} 位于 {inside} 内，{closed_to.zh}",
            )


def _closed_to(product: Product, network: Network) -> Text:
    note = product.mode_note if network in product.open_in_amp else None
    return Text(
        en=f"{product.name} can't use for devices" + (f" {note.en}" if note else ""),
        zh=f"{product.name} 的设备不能使用该范围" + (f"（{note.zh}）" if note else ""),
    )


def gateway_outside_segment(scene: Scene) -> Iterator[Problem]:
    """A gateway that is no host of its segment: listed, or by the plane's host number."""
    for segment in scene.cluster.parameter_plane.segments:
        low, high = hosts(segment.network)
        gateway = segment.gateway
        if gateway is not None and (gateway.version != segment.network.version or not low <= int(gateway) <= high):
            yield _one(
                "gateway_outside_segment",
                scene.cluster.place,
                f"gateway {gateway} is no host address of segment {segment.network}",
                f"网关 {gateway} 不是网段 {segment.network} 的主机地址",
            )
    listed = {segment.gateway for segment in scene.cluster.parameter_plane.segments}
    for place, claim in scene.claims.items():
        gateway, network = claim.gateway, claim.interface.network
        if gateway is None or (gateway in listed and not _foreign(claim)):
            continue
        low, high = hosts(network)
        if gateway.version != network.version or not low <= int(gateway) <= high:
            yield _one(
                "gateway_outside_segment",
                place,
                f"gateway {gateway} planned for {place} is no host address of its segment {network}",
                f"{place} 的规划网关 {gateway} 不是其网段 {network} 的主机地址",
            )


def detect_outside(scene: Scene) -> Iterator[Problem]:
    """A probe target in no planned segment, or in another one with no gateway to it."""
    networks = {(c.interface.version, *ends(c.interface.network)) for c in scene.claims.values()}
    whole = {v: spans((low, high) for version, low, high in networks if version == v) for v in (4, 6)}
    for place, claim in scene.claims.items():
        target, network = claim.netdetect, claim.interface.network
        if target is None:
            continue
        low, high = hosts(network)
        own = target.version == network.version and low <= int(target) <= high
        routed = claim.gateway is not None and whole[target.version].holds(int(target))
        if not own and not routed:
            yield _one(
                "detect_outside",
                place,
                f"netdetect target {target} of {place} lies outside its segment {network} with no planned way to it",
                f"{place} 的 netdetect 目标 {target} 在其网段 {network} 之外，且规划中不可达",
            )


def equals_host_address(scene: Scene) -> Iterator[Problem]:
    """An address that a server itself uses, or that lies in a network of its own interfaces."""
    owners = {(a.version, int(a)): s.name for s in scene.cluster.servers for a in host_addresses(s)}
    networks: dict[tuple[int, int, int], str] = {}
    for name, addresses in scene.hosts.items():
        for address in addresses:
            owners.setdefault((address.version, int(address)), name)
            if isinstance(address, IPv4Interface | IPv6Interface) and not address.is_loopback:
                networks.setdefault((address.version, *ends(address.network)), name)
    whole = {v: spans((low, high) for version, low, high in networks if version == v) for v in (4, 6)}
    for place, claim in scene.claims.items():
        number = (claim.interface.version, int(claim.interface))
        if owner := owners.get(number):
            yield _one(
                "equals_host_address",
                place,
                f"{claim.interface.ip} planned for {place} is an address of server {owner} itself",
                f"{place} 的规划地址 {claim.interface.ip} 是服务器 {owner} 自身的地址",
            )
        elif whole[number[0]].holds(number[1]):
            owner = next(n for (v, low, high), n in networks.items() if v == number[0] and low <= number[1] <= high)
            yield _one(
                "equals_host_address",
                place,
                f"{claim.interface.ip} planned for {place} lies in a network of server {owner}'s own interfaces",
                f"{place} 的规划地址 {claim.interface.ip} 位于服务器 {owner} 自身接口的网络内",
            )


def answers_elsewhere(scene: Scene) -> Iterator[Problem]:
    """An address at which someone else answers already."""
    if not scene.answering:
        return
    for place, claim in scene.claims.items():
        who = scene.answering.get(claim.interface.ip)
        if who is not None and who != str(place):
            yield _one(
                "answers_elsewhere",
                place,
                f"{claim.interface.ip} planned for {place} is answered by {who or 'someone else'} now",
                f"{place} 的规划地址 {claim.interface.ip} 目前由 {who or '其他设备'} 应答",
            )


ADDRESS_RULES = (
    duplicates,
    equals_gateway,
    ends_of_segment,
    reserved_range,
    gateway_outside_segment,
    detect_outside,
    equals_host_address,
    answers_elsewhere,
)

_SHOWN = 4


def _foreign(claim: DeviceAddressing) -> bool:
    """Tell whether a listed gateway was given to a device of another network."""
    first, last = ends(claim.interface.network)
    return claim.gateway is not None and not first <= int(claim.gateway) <= last


def _words(places: list[Place]) -> str:
    rest = f" (+{len(places) - _SHOWN})" if len(places) > _SHOWN else ""
    return ", ".join(str(p) for p in places[:_SHOWN]) + rest


def _one(rule: str, place: Place, en: str, zh: str) -> Problem:
    return Problem(rule=rule, places=(place,), message=en, zh=zh)
