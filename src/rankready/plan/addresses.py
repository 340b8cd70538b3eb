"""Which address, gateway and probe target every device should carry."""

from __future__ import annotations

from ipaddress import IPv4Interface, IPv6Interface
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rankready.model.addressing import DeviceAddressing
from rankready.model.change import Problem
from rankready.model.errors import PlanError
from rankready.plan.layout import Memories, gateway_in, lay_out
from rankready.plan.ranges import ends, hosts
from rankready.plan.targets import targets

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, Addressing, Interface, Network
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.plan.layout import Layout
    from rankready.plan.ranges import Spans

NOTHING: Final[Mapping[Place, Interface]] = MappingProxyType({})


def assign(
    cluster: Cluster,
    product: Product,
    *,
    applied: Mapping[Place, Interface] = NOTHING,
    live: Mapping[Place, Interface] = NOTHING,
    avoid: Collection[Address] = (),
) -> Addressing:
    """Give every device its address, gateway and netdetect, in cluster order; the fewest moves (facts/hccn 7).

    An address that the user wrote stands as it is. Then comes what was last ``applied``, then what the device has now
    (``live``), each where it is legal: in the right segment with its exact mask, not reserved, not the segment's own
    or broadcast address or gateway, not a server's own, not taken. Last comes the lowest free host number. Addresses to
    ``avoid`` (servers' other interfaces, whoever answers elsewhere) are never given. Raises
    PlanError when the pool or a segment is too small, families are mixed, or a device has no segment; what the user
    wrote is otherwise not judged here (see ``conflicts``).
    """
    layout = lay_out(cluster, product, Memories(applied=applied, live=live, avoid=avoid))
    if isinstance(layout, Problem):
        raise PlanError(f"{layout.message}\n{layout.zh}")
    chosen = _choose(cluster, layout, (applied, live))
    gateways = _gateways(cluster, layout, chosen)
    probes = targets(cluster, product, chosen, gateways)
    return {
        place: DeviceAddressing(interface=interface, gateway=gateways[place], netdetect=probes[place])
        for place, interface in chosen.items()
    }


def _choose(
    cluster: Cluster, layout: Layout, memories: tuple[Mapping[Place, Interface], ...]
) -> dict[Place, Interface]:
    typed = cluster.parameter_plane.addresses
    chosen = {place: typed[place] for place in cluster.devices() if place in typed}
    taken = {int(interface) for interface in typed.values()}
    seats = [_Seats(s.network, s.gateway, layout) for s in layout.segments]
    for memory in memories:
        for place, at in layout.home.items() if memory else ():
            kept = memory.get(place)
            if kept is not None and place not in chosen and int(kept) not in taken and seats[at].allows(kept):
                chosen[place] = kept
                taken.add(int(kept))
    for place, at in layout.home.items():
        if place not in chosen:
            chosen[place] = seats[at].take(taken)
    if not typed and not any(memories):
        return chosen
    return {place: chosen[place] for place in cluster.devices()}


class _Seats:
    """The host numbers of one segment, given out lowest first. Capacity was counted before, so they suffice."""

    def __init__(self, network: Network, gateway: Address | None, layout: Layout) -> None:
        self.network = network
        self.low, self.high = hosts(network)
        self.gateway = -1 if gateway is None else int(gateway)
        self.layout = layout
        self.closed = layout.picky
        self.next = self.low

    def allows(self, interface: Interface) -> bool:
        """Tell whether an address that a device has may stay."""
        number, network = int(interface), interface.network
        return (
            self.low <= number <= self.high
            and number != self.gateway
            and network.version == self.network.version
            and network.prefixlen == self.network.prefixlen
            and not self.layout.shut.holds(number)
        )

    def take(self, taken: set[int]) -> Interface:
        """Take the lowest free number."""
        number = self._free(taken, self.closed)
        if number > self.high:
            # only avoided numbers are left, in a segment that the user listed or that devices live in already
            self.next, self.closed = self.low, self.layout.closed
            number = self._free(taken, self.closed)
        self.next = number + 1
        taken.add(number)
        if self.network.version == 4:  # noqa: PLR2004  (the family's own number)
            return IPv4Interface((number, self.network.prefixlen))
        return IPv6Interface((number, self.network.prefixlen))

    def _free(self, taken: set[int], closed: Spans) -> int:
        number = closed.next_open(self.next)
        while number in taken or number == self.gateway:
            number = closed.next_open(number + 1)
        return number


def _gateways(cluster: Cluster, layout: Layout, chosen: Mapping[Place, Interface]) -> dict[Place, Address | None]:
    """A typed-in address finds its gateway by its network; the others by their segment."""
    known = {(ends(s.network), s.network.version): s.gateway for s in reversed(layout.segments)}
    found: dict[Place, Address | None] = {}
    for place, interface in chosen.items():
        at = layout.home.get(place)
        if at is not None:
            found[place] = layout.segments[at].gateway
            continue
        key = (ends(interface.network), interface.version)
        if key not in known:
            known[key] = gateway_in(cluster, interface.network)
        found[place] = known[key]
    return found
