"""Which devices must reach each other, by the plan."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from rankready.mesh.probe import Exclusion, Probe
from rankready.model.cluster import Topology
from rankready.model.fibre import peers
from rankready.model.place import device_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from rankready.kind.product import Product
    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place

Group = Sequence["Place"]
"""Devices of one rail, or the two ends of one fibre, that all must reach each other; in cluster order."""


@dataclass(frozen=True, slots=True)
class Rail(Sequence["Place"]):
    """The devices at one position of some servers (``members``: their numbers, ascending); no device is stored."""

    servers: tuple[Server, ...]
    device: int
    members: Sequence[int]

    def __len__(self) -> int:
        """Return how many devices there are."""
        return len(self.members)

    @overload
    def __getitem__(self, index: int) -> Place: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Place, ...]: ...
    def __getitem__(self, index: int | slice) -> Place | tuple[Place, ...]:
        """Return a device by its number in the group."""
        if isinstance(index, slice):
            return tuple(device_place(self.servers[m].name, self.device) for m in self.members[index])
        return device_place(self.servers[self.members[index]].name, self.device)

    def seat(self, server: int) -> int | None:
        """Return a server's number in the group."""
        at = bisect_left(self.members, server)
        return at if at < len(self.members) and self.members[at] == server else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """``rails``: for each position the groups of devices that must reach each other; ``excluded``: what is left out."""

    rails: tuple[tuple[Group, ...], ...]
    excluded: tuple[Exclusion, ...]

    def directed(self) -> Iterator[tuple[Place, Place]]:
        """Yield every ordered pair that must pass."""
        for groups in self.rails:
            for group in groups:
                yield from ((a, b) for a in group for b in group if a != b)


def pairs(cluster: Cluster, product: Product) -> Reach:
    """Return who must reach whom, rail by rail, from planned addresses (facts/mesh 2, facts/hccn 11).

    Devices of one rail in one network reach each other, as do those that all have a gateway. Between directly joined
    servers only the two ends of a fibre do.
    """
    del product  # a rail holds one device a server: what a server's devices may not do among themselves does not matter
    if cluster.topology is Topology.DIRECT:
        return _fibres(cluster)
    if alike := _alike(cluster):
        return Reach(rails=tuple((rail,) for rail in alike), excluded=())
    rails: list[tuple[Group, ...]] = []
    excluded: list[Exclusion] = []
    numbers = {s.name: n for n, s in enumerate(cluster.servers)}
    for position, devices in cluster.rails():
        addressed = tuple(d for d in devices if cluster.planned(d) is not None)
        if unplanned := tuple(d for d in devices if cluster.planned(d) is None):
            count = _unordered(len(devices)) - _unordered(len(addressed))
            excluded.append(Exclusion(places=unplanned, pairs=count, rule=_NO_ADDRESS))
        groups = _joined(cluster, addressed)
        rails.append(tuple(Rail(cluster.servers, position, tuple(numbers[d.name] for d in g)) for g in groups))
        apart = _unordered(len(addressed)) - sum(_unordered(len(g)) for g in groups)
        if apart:
            excluded.append(Exclusion(places=addressed, pairs=apart, rule=_NOT_ROUTED))
    return Reach(rails=tuple(rails), excluded=tuple(excluded))


def _alike(cluster: Cluster) -> tuple[Rail, ...]:
    """Return the rails of a cluster whose servers have the same devices, each rail all in one network; else nothing.

    One look at each planned address, and nothing is hashed or kept: this is most of what planning 4,096 servers costs.
    """
    positions = cluster.servers[0].devices if cluster.servers else ()
    names = {s.name for s in cluster.servers}
    if len(names) * len(positions) != len(cluster.addressing) or any(s.devices != positions for s in cluster.servers):
        return ()
    bounds: dict[int, tuple[Address, int, int]] = {}
    count = dict.fromkeys(positions, 0)
    for place, planned in cluster.addressing.items():
        interface, position = planned.interface, place.device
        known = bounds.get(position)
        if known is None:
            network = interface.network
            known = interface.netmask, int(network.network_address), int(network.broadcast_address)
            bounds[position] = known
        if interface.netmask is not known[0] or not known[1] <= int(interface) <= known[2]:
            return ()
        count[position] = count.get(position, 0) + (place.name in names)
    if any(n != len(names) for n in count.values()):
        return ()
    members = range(len(cluster.servers))
    return tuple(Rail(cluster.servers, position, members) for position in sorted(positions))


def may_probe(cluster: Cluster, product: Product, a: Place, b: Place) -> bool:
    """Tell whether the plan lets ``a`` reach ``b``, on whatever rails they are."""
    if a == b or cluster.planned(a) is None or cluster.planned(b) is None:
        return False
    if cluster.topology is Topology.DIRECT:
        return peers(cluster).get(a) == b
    if a.name == b.name and not _own_server(product, a.device, b.device):
        return False
    return _network(cluster, a) == _network(cluster, b)


def probe(cluster: Cluster, source: Place, target: Place) -> Probe:
    """Make the probe of a planned address; raises KeyError where the target has none."""
    return Probe(source=source, target=target, address=cluster.addressing[target].interface.ip)


def _own_server(product: Product, a: int, b: int) -> bool:
    """Devices of one server tell something only where each has a device OS of its own (facts/mesh 8)."""
    shared = any(a in ring and b in ring for ring in product.rings)
    return product.probes_own_server and not shared and not product.never_joined(a, b)


def _network(cluster: Cluster, device: Place) -> Hashable:
    planned = cluster.planned(device)
    return None if planned is None else planned.interface.network


def _joined(cluster: Cluster, devices: tuple[Place, ...]) -> tuple[tuple[Place, ...], ...]:
    """Split a rail into networks; networks in which every device has a gateway are joined by routing."""
    networks: dict[Hashable, list[Place]] = {}
    for device in devices:
        networks.setdefault(_network(cluster, device), []).append(device)
    routed: set[Place] = set()
    for members in networks.values():
        if all(cluster.addressing[d].gateway is not None for d in members):
            routed.update(members)
    local = [tuple(members) for members in networks.values() if members[0] not in routed]
    everywhere = tuple(d for d in devices if d in routed)
    return (everywhere, *local) if everywhere else tuple(local)


def _fibres(cluster: Cluster) -> Reach:
    rails: list[tuple[Group, ...]] = []
    excluded: list[Exclusion] = []
    far = peers(cluster)
    for _, devices in cluster.rails():
        groups = tuple((d, far[d]) for d in devices if d in far and d < far[d])
        rails.append(groups)
        apart = _unordered(len(devices)) - sum(g[0].device == g[1].device for g in groups)
        if apart:
            excluded.append(Exclusion(places=devices, pairs=apart, rule=_NOT_CABLED))
    return Reach(rails=tuple(rails), excluded=tuple(excluded))


def _unordered(n: int) -> int:
    return n * (n - 1) // 2


_NO_ADDRESS = Text(en="a device without a planned address is not probed", zh="没有规划地址的设备不探测")
_NOT_ROUTED = Text(
    en="devices in different networks reach each other only where all of them have a gateway",
    zh="不同网段的设备只有在都有网关时才互通",
)
_NOT_CABLED = Text(
    en="without a switch only the two ends of a fibre reach each other",
    zh="没有交换机时，只有同一光纤的两端互通",
)
