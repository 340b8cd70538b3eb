"""Where each cable ends, and where the order of all the others says that it should end."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
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

_HALF = re.compile(r"(400GE[0-9/]+)(?::([0-9]+))?", re.ASCII)  # facts/hccn 9: breakout halves of a 400G port
_EVIDENT = 0.75  # an order that fewer ports follow is no order: a swap among eight devices leaves six in place
_FEWEST = 6


@dataclass(frozen=True, slots=True)
class Layout:
    """Where cables end and where they should. ``sure``: somebody planned it, it was not read from the others' order.

    ``shared``: ports that several devices hear; no order is read from these.
    """

    found: Ends
    expected: Ends
    sure: bool
    shared: dict[Place, tuple[Place, ...]]


def layout(cluster: Cluster, seen: Seen) -> Layout:
    """Return where cables end and should end: as planned, else as most of them do."""
    found = ends(cluster, seen)
    shared = shared_ports(found)
    planned = planned_ends(cluster)
    if planned:
        return Layout(found, planned, sure=True, shared=shared)
    alone = {d: e for d, e in found.items() if e not in shared}
    pvids = {d: n.pvid for d, n in seen.each(Neighbour) if n.pvid is not None}
    return Layout(found, evident_ends(cluster, alone, pvids), sure=False, shared=shared)


def shared_ports(found: Ends) -> dict[Place, tuple[Place, ...]]:
    """Return the ports that several devices hear, with these devices."""
    hearers: dict[Place, list[Place]] = {}
    for device, end in found.items():
        if end.kind is PlaceKind.PORT:
            hearers.setdefault(end, []).append(device)
    return {port: tuple(devices) for port, devices in hearers.items() if len(devices) > 1}


def half(port: Place) -> tuple[Place, int] | None:
    """Return the 400G port that a port is, or is a half of, and which half (0: undivided); None for any other."""
    found = _HALF.fullmatch(port.port) if port.kind is PlaceKind.PORT else None
    return (port_place(port.name, found[1]), int(found[2] or 0)) if found else None


def ends(cluster: Cluster, seen: Seen) -> Ends:
    """Return where each cable ends as LLDP tells it; neighbours that cannot be named are left out.

    A device may hear itself: its cable leads back.
    """
    macs = {mac.address.lower(): device for device, mac in seen.each(Mac)}
    found: Ends = {}
    for device in cluster.devices():
        neighbour = seen.at(device, Neighbour)
        if neighbour is None:
            continue
        peer = macs.get(neighbour.port.lower()) or macs.get(neighbour.chassis.lower())
        if peer is not None:
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
    home = _home_leaves(ports)
    moved = _between_leaves(ports, home)
    mended = {**ports, **moved}  # an order is read from those that hang where their server does
    at_home = {d: e for d, e in mended.items() if home.get(d.name, e.name) == e.name}
    expected: Ends = {}
    for leaf in dict.fromkeys(e.name for e in at_home.values()):
        expected.update(_on_leaf({d: e for d, e in at_home.items() if e.name == leaf}))
    if not expected:
        expected = _by_rail(ports)
    settled = set(expected)
    crossed = {d: e for d, e in _crossed(cluster, ports, pvids).items() if d not in settled}
    return {**expected, **crossed, **moved}


def _on_leaf(ports: Ends) -> Ends:
    """Order within one leaf that serves several devices of a server: servers in blocks, or positions in blocks."""
    servers = {d.name for d in ports}
    if len(ports) == len(servers):
        return {}
    by_server = {d: (d.name, d.device) for d in ports}
    by_position = {d: (d.device, d.name) for d in ports}
    layouts = [_layout(ports, by_server, counted=True)]
    if len(servers) > 1:  # to one server alone every other order would fit
        layouts += [_layout(ports, by_server, counted=False)]
        layouts += [_layout(ports, by_position, counted=c) for c in (True, False)]
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
    return _exchanged(ports, pvids, {d: usual[net] for d, net in segment.items()})


def _between_leaves(ports: Ends, home: Mapping[str, str]) -> Ends:
    """Two devices, each on the leaf where nearly all of the other's server hang, though each leaf seems in order."""
    return _exchanged(ports, {d: e.name for d, e in ports.items()}, {d: home.get(d.name) for d in ports})


def _exchanged(ports: Ends, have: Mapping[Place, object], usual: Mapping[Place, object]) -> Ends:
    """Pair those that have what the other should: the port of each belongs to the other, where there is one such."""
    astray = [d for d, want in usual.items() if want is not None and have[d] != want]
    partners = {d: [o for o in astray if have[o] == usual[d] and have[d] == usual[o]] for d in astray}
    return {d: ports[only[0]] for d, only in partners.items() if len(only) == 1 and partners[only[0]] == [d]}


def _home_leaves(ports: Ends) -> dict[str, str]:
    """Server → the leaf on which nearly all of its devices hang; a server spread over leaves has none."""
    leaves: dict[str, Counter[str]] = {}
    for device, end in ports.items():
        leaves.setdefault(device.name, Counter())[end.name] += 1
    most = {server: counted.most_common(1)[0] for server, counted in leaves.items()}
    return {
        server: leaf for server, (leaf, count) in most.items() if count >= max(_EVIDENT * leaves[server].total(), 2)
    }


def natural(port: str) -> tuple[tuple[int, int, str], ...]:
    """Order port names as people count them: GE1/0/9 before GE1/0/10."""
    parts = re.findall(r"\d+|\D+", port)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts)
