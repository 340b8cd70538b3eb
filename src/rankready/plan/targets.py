"""What each device probes to judge its own network: its gateway, or a peer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model import fibre
from rankready.model.cluster import NetDetectPolicy, Topology

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, Interface
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place


def targets(
    cluster: Cluster,
    product: Product,
    chosen: Mapping[Place, Interface],
    gateways: Mapping[Place, Address | None],
) -> dict[Place, Address | None]:
    """Return each device's netdetect target, None where there is nothing to probe (facts/hccn 7.4).

    AUTO takes the gateway behind a switch and the peer on a direct cable. The peer is the far end of the cable; behind
    a switch the device at the same position of the next server in the same segment, else another one of its own server.
    """
    policy = cluster.parameter_plane.netdetect
    if policy is NetDetectPolicy.NONE:
        return dict.fromkeys(chosen)
    if policy is NetDetectPolicy.GATEWAY:
        return {place: gateways[place] for place in chosen}
    peers = peers_of(cluster, product, chosen)
    found: dict[Place, Address | None] = {}
    for place in chosen:
        gateway = gateways[place] if policy is NetDetectPolicy.AUTO else None
        if gateway is not None and cluster.topology is Topology.SWITCH:
            found[place] = gateway
            continue
        peer = peers.get(place)
        found[place] = gateway if peer is None else chosen[peer].ip
    return found


def peers_of(cluster: Cluster, product: Product, chosen: Mapping[Place, Interface]) -> dict[Place, Place]:
    """Return the device that each device would probe, where there is one."""
    if cluster.topology is Topology.DIRECT:
        return _cabled(cluster, chosen)
    mates = _next_of(chosen, lambda place: place.name) if product.probes_own_server else {}
    return {**mates, **_next_of(chosen, lambda place: place.device)}


def _cabled(cluster: Cluster, chosen: Mapping[Place, Interface]) -> dict[Place, Place]:
    return {a: b for a, b in fibre.peers(cluster).items() if a in chosen and b in chosen}


def _next_of(chosen: Mapping[Place, Interface], circle: Callable[[Place], str | int]) -> dict[Place, Place]:
    """Return the next device, cyclic, among those of one segment with the same name or position."""
    circles: dict[tuple[int, int, str | int], list[Place]] = {}
    for place, interface in chosen.items():
        network = interface.network
        key = (int(network.network_address), network.prefixlen, circle(place))
        circles.setdefault(key, []).append(place)
    return {
        place: members[(at + 1) % len(members)]
        for members in circles.values()
        if len(members) > 1
        for at, place in enumerate(members)
    }
