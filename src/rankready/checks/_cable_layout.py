"""Where each cable ends, and where the order of all the others says that it should end."""

from __future__ import annotations

import re
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from rankready.model.cluster import Topology
from rankready.model.fibre import peers
from rankready.model.majority import majority
from rankready.model.observed.device import Mac, Neighbour, NeighbourKind
from rankready.model.place import Place, PlaceKind, port_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.model.cluster import Cluster
    from rankready.model.snapshot import Seen

Ends = dict[Place, Place]
"""Device → the port or device at the other end of its cable."""

_EVIDENT = 0.75  # an order that fewer ports follow is no order: a swap among eight devices leaves six in place
_FEWEST = 6


def ends(cluster: Cluster, seen: Seen) -> Ends:
    """Return where each cable ends as LLDP tells it; neighbours that cannot be named are left out."""
    macs = {mac.address.lower(): device for device, mac in seen.each(Mac)}
    found: Ends = {}
    for device in cluster.devices():
        neighbour = seen.at(device, Neighbour)
        if neighbour is None:
            continue
        peer = macs.get(neighbour.port.lower()) or macs.get(neighbour.chassis.lower())
        if peer is not None and peer != device:
            found[device] = peer
        elif neighbour.kind is not NeighbourKind.DEVICE and neighbour.system and neighbour.port:
            found[device] = port_place(neighbour.system, neighbour.port)
    return found


def planned_ends(cluster: Cluster) -> Ends:
    """Return where cables should end: as the user wrote it; between two servers, as the addresses pair them."""
    if cluster.topology is Topology.DIRECT:
        return peers(cluster)
    return {cable.device: cable.far for cable in cluster.cables}


def evident_ends(cluster: Cluster, found: Ends, pvids: Mapping[Place, int]) -> Ends:
    """Return where cables should end by the order that most of them follow; empty where no order is evident.

    Only an exchange counts: a device alone on a port out of order may have been moved there on purpose.
    """
    ports = {d: e for d, e in found.items() if e.kind is PlaceKind.PORT}
    expected: Ends = {}
    for leaf in dict.fromkeys(e.name for e in ports.values()):
        expected.update(_on_leaf({d: e for d, e in ports.items() if e.name == leaf}))
    if not expected:
        expected = _by_rail(ports)
    settled = set(expected)
    crossed = {d: e for d, e in _crossed(cluster, ports, pvids).items() if d not in settled}
    return {**expected, **crossed}


def _on_leaf(ports: Ends) -> Ends:
    """Order within one leaf that serves several devices of a server: servers in blocks, or positions in blocks."""
    if len(ports) == len({d.name for d in ports}):
        return {}
    by_server = {d: (d.name, d.device) for d in ports}
    by_position = {d: (d.device, d.name) for d in ports}
    layouts = [_layout(ports, parts, counted=c) for parts in (by_server, by_position) for c in (True, False)]
    best = max(layouts, key=lambda expected: _agreeing(ports, expected))
    return best if _evident(ports, best) else {}


def _layout(ports: Ends, parts: Mapping[Place, tuple[object, object]], *, counted: bool) -> Ends:
    """Hand the ports out in order, block by block; ``parts`` are a device's block and its place inside.

    Blocks stand as most of their ports do. Inside, devices are ``counted`` as the cluster file does, or stand as in
    most blocks: an exchange between two of only two servers would else bend the very order that it breaks.
    """
    ordered = sorted(ports, key=lambda d: natural(ports[d].port))
    block_rank = _medians((parts[d][0], float(rank)) for rank, d in enumerate(ordered))
    inside: dict[object, list[Place]] = {}
    for device in ports if counted else ordered:
        inside.setdefault(parts[device][0], []).append(device)
    rank = _medians((parts[d][1], float(i)) for devices in inside.values() for i, d in enumerate(devices))
    ideal = sorted(ports, key=lambda d: (block_rank[parts[d][0]], rank[parts[d][1]], d))
    return dict(zip(ideal, (ports[d] for d in ordered), strict=True))


def _medians(pairs: Iterable[tuple[object, float]]) -> dict[object, float]:
    values: dict[object, list[float]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return {key: median(many) for key, many in values.items()}


def _by_rail(ports: Ends) -> Ends:
    """Order of leaves that serve one position each: a server has the same port name on all of them."""
    leaf_of = {p: _mode(e.name for d, e in ports.items() if d.device == p) for p in {d.device for d in ports}}
    port_of = {s: _mode(e.port for d, e in ports.items() if d.name == s) for s in {d.name for d in ports}}
    expected = {
        d: port_place(leaf, port)
        for d in ports
        if (leaf := leaf_of[d.device]) is not None and (port := port_of[d.name]) is not None
    }
    return expected if _evident(ports, expected) and set(expected.values()) == set(ports.values()) else {}


def _mode(values: Iterable[str]) -> str | None:
    """Return what more than half say."""
    counted = Counter(values)
    value, count = counted.most_common(1)[0]
    return value if count * 2 > counted.total() else None


def _agreeing(ports: Ends, expected: Ends) -> int:
    return sum(ports[d] == e for d, e in expected.items())


def _evident(ports: Ends, expected: Ends) -> bool:
    agreeing = _agreeing(ports, expected)
    return agreeing >= _FEWEST and agreeing >= _EVIDENT * len(ports)


def _crossed(cluster: Cluster, ports: Ends, pvids: Mapping[Place, int]) -> Ends:
    """Two devices of different segments, each in the VLAN of the other's: their cables changed places."""
    segment = {d: a.interface.network for d, a in cluster.addressing.items() if d in pvids and d in ports}
    usual = {net: majority({d: pvids[d] for d, n in segment.items() if n == net}) for net in set(segment.values())}
    astray = [d for d, net in segment.items() if usual[net] is not None and pvids[d] != usual[net]]
    partners = {
        d: [o for o in astray if pvids[o] == usual[segment[d]] and pvids[d] == usual[segment[o]]] for d in astray
    }
    return {d: ports[only[0]] for d, only in partners.items() if len(only) == 1 and partners[only[0]] == [d]}


def natural(port: str) -> tuple[tuple[int, int, str], ...]:
    """Order port names as people count them: GE1/0/9 before GE1/0/10."""
    parts = re.findall(r"\d+|\D+", port)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts)
