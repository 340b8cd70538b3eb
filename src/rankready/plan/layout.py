"""The segments of a cluster and who lives in which: listed by the user, or cut from the pool."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from rankready.model.addressing import Segment
from rankready.model.change import Problem
from rankready.plan.homes import Homes, homes, too_many_listed
from rankready.plan.pools import Demand, cut, shortage
from rankready.plan.ranges import NO_UNICAST, all_ends, ends, hosts, spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, Interface, Network
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place
    from rankready.plan.ranges import Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Segments with their gateways, device → index of its segment (not for devices with a typed-in address).

    ``shut`` numbers are never a device's. Free ones are picked outside ``picky`` first (shut, typed-in and avoided
    ranges), then outside ``closed`` (shut and typed-in).
    """

    segments: tuple[Segment, ...]
    home: Mapping[Place, int]
    shut: Spans
    closed: Spans
    picky: Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """What was last applied, what devices have now, and addresses that must not be given."""

    applied: Mapping[Place, Interface] = field(default_factory=dict)
    live: Mapping[Place, Interface] = field(default_factory=dict)
    avoid: Collection[Address] = ()


def lay_out(cluster: Cluster, product: Product, memories: Memories) -> Layout | Problem:
    """Find every device's segment, or the first rule that can't be met."""
    problem = mixed_families(cluster) or next(too_many_listed(cluster, product), None)
    if problem is not None:
        return problem
    everyone = homes(cluster, product)
    found = _without_typed(everyone, cluster)
    layout = _listed(cluster, product, found, memories.avoid)
    problem = _listed_shortage(cluster, layout)
    if problem is not None or not found.ruled:
        return problem or layout
    if cluster.parameter_plane.pool is None:
        return _no_pool(found, product)
    demand = _demand(cluster, found, layout, _standing(cluster, everyone.ruled, memories))
    networks = cut(demand)
    if networks is None:
        return shortage(demand, cluster.place)
    return _with_cut(cluster, found, layout, networks)


def gateway_in(cluster: Cluster, network: Network) -> Address | None:
    """Return the gateway of a network: its listed segment's own, else the plane's host number in it, else None."""
    plane = cluster.parameter_plane
    for segment in plane.segments:
        if segment.network == network and segment.gateway is not None:
            return segment.gateway
    if plane.gateway is None:
        return None
    number = ends(network)[0] + plane.gateway
    low, high = hosts(network)
    if not low <= number <= high:
        return None
    return IPv4Address(number) if network.version == 4 else IPv6Address(number)  # noqa: PLR2004  (the family)


def mixed_families(cluster: Cluster) -> Problem | None:
    """Return a problem when the user's pool, segments and addresses are of both families (facts/hccn 7.4: EI0001)."""
    plane = cluster.parameter_plane
    said: list[Network | Interface] = [s.network for s in plane.segments]
    said += [plane.pool] if plane.pool is not None else []
    said += plane.addresses.values()
    families = {x.version: x for x in reversed(said)}
    if len(families) < 2:  # noqa: PLR2004  (two families)
        return None
    return Problem(
        rule="mixed_families",
        places=(cluster.place,),
        message=f"IPv4 ({families[4]}) and IPv6 ({families[6]}) are mixed; one family serves all devices of a job",
        zh=f"混用了 IPv4（{families[4]}）与 IPv6（{families[6]}）；同一作业的所有设备须为同一地址族",
    )


def host_addresses(server: Server) -> Iterator[Address]:
    """Yield a server's own addresses, as far as the user wrote them as addresses."""
    if server.address is not None:
        yield server.address
    try:
        yield ip_address(server.login.host)
    except ValueError:
        return  # a host name


def _without_typed(found: Homes, cluster: Cluster) -> Homes:
    typed = cluster.parameter_plane.addresses
    if not typed:
        return found
    return Homes(
        listed={place: at for place, at in found.listed.items() if place not in typed},
        ruled={place: at for place, at in found.ruled.items() if place not in typed},
    )


def _listed(cluster: Cluster, product: Product, found: Homes, avoid: Collection[Address]) -> Layout:
    plane, version = cluster.parameter_plane, _version(cluster)
    own = [int(a) for s in cluster.servers for a in host_addresses(s) if a.version == version]
    own += [int(a) for a in avoid if a.version == version]
    typed = [int(i) for i in plane.addresses.values()]
    shut = all_ends((*product.reserved, *NO_UNICAST), version) + [(n, n) for n in own]
    closed = shut + [(n, n) for n in typed]
    return Layout(
        segments=tuple(replace(s, gateway=s.gateway or gateway_in(cluster, s.network)) for s in plane.segments),
        home=found.listed,
        shut=spans(shut),
        closed=spans(closed),
        picky=spans(closed + all_ends(product.avoided, version)),
    )


def _version(cluster: Cluster) -> int:
    plane = cluster.parameter_plane
    if plane.pool is not None:
        return plane.pool.version
    if plane.segments:
        return plane.segments[0].network.version
    return next((i.version for i in plane.addresses.values()), 4)


def _listed_shortage(cluster: Cluster, layout: Layout) -> Problem | None:
    needs: Counter[Network] = Counter(layout.segments[at].network for at in layout.home.values())
    gateways = {s.network: s.gateway for s in layout.segments}
    for network, need in needs.items():
        low, high = hosts(network)
        gateway = gateways[network]
        inside = gateway is not None and low <= int(gateway) <= high and not layout.closed.holds(int(gateway))
        there = high - low + 1 - layout.closed.count(low, high) - inside
        if there < need:
            return _too_small(cluster, network, need, there)
    return None


def _too_small(cluster: Cluster, network: Network, need: int, there: int) -> Problem:
    short = need - there
    size = network.num_addresses + short
    prefix = network.max_prefixlen - (size - 1).bit_length()
    return Problem(
        rule="too_few_addresses",
        places=(cluster.place,),
        message=f"segment {network} is too small: {need} device addresses are needed, {there} are there; "
        f"a /{prefix} would do",
        zh=f"网段 {network} 太小：需要 {need} 个设备地址，仅有 {there} 个；/{prefix} 即可",
    )


def _no_pool(found: Homes, product: Product) -> Problem:
    places = tuple(found.ruled)
    return Problem(
        rule="too_few_addresses",
        places=places,
        message=f"no pool and no segment for {places[0]} ({len(places)} devices need an address, 0 are there); "
        f"rule: {product.segments_rule.en}",
        zh=f"{places[0]} 没有地址池也没有网段（需要 {len(places)} 个设备地址，有 0 个）；"
        f"规则：{product.segments_rule.zh}",
    )


def _demand(cluster: Cluster, found: Homes, layout: Layout, standing: Mapping[int, Network]) -> Demand:
    plane = cluster.parameter_plane
    assert plane.pool is not None  # noqa: S101  (asked by the caller; tells the type checker)
    return Demand(
        pool=plane.pool,
        prefix=plane.prefix,
        gateway=plane.gateway,
        needs=Counter(found.ruled.values()),
        closed=layout.closed,
        picky=layout.picky,
        standing=standing,
        avoid=tuple(s.network for s in layout.segments),
    )


def _with_cut(cluster: Cluster, found: Homes, layout: Layout, networks: Mapping[int, Network]) -> Layout:
    at = {number: len(layout.segments) + n for n, number in enumerate(networks)}
    fresh = tuple(Segment(network=n, gateway=gateway_in(cluster, n)) for n in networks.values())
    home = {place: at[number] for place, number in found.ruled.items()}
    if not found.listed:
        return replace(layout, segments=(*layout.segments, *fresh), home=home)
    home |= found.listed
    order = {place: home[place] for place in cluster.devices() if place in home}
    return replace(layout, segments=(*layout.segments, *fresh), home=order)


def _standing(cluster: Cluster, ruled: Mapping[Place, int], memories: Memories) -> dict[int, Network]:
    """Find the segment that each number lives in: where most were put by us or the user, else where most live.

    Live addresses count only when more than half of a number's devices agree: a few strays must not pull a cluster
    along.
    """
    typed = cluster.parameter_plane.addresses
    told = _votes(ruled, {**memories.applied, **typed})
    seen = _votes(ruled, memories.live)
    size = Counter(ruled.values())
    found: dict[int, Network] = {}
    for number in size:
        if told.get(number):
            found[number] = _most(told[number])
        elif seen.get(number):
            most = _most(seen[number])
            if 2 * seen[number][most] > size[number]:
                found[number] = most
    return found


def _votes(ruled: Mapping[Place, int], said: Mapping[Place, Interface]) -> dict[int, Counter[Network]]:
    votes: dict[int, Counter[Network]] = {}
    for place, number in ruled.items():
        if place in said:
            votes.setdefault(number, Counter())[said[place].network] += 1
    return votes


def _most(votes: Counter[Network]) -> Network:
    return min(votes, key=lambda n: (-votes[n], int(n.network_address), n.prefixlen))
