"""What the devices' own facts say about why one of them is silent."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rankready.model.cluster import Topology
from rankready.model.majority import majority
from rankready.model.observed.device import DeviceAddress, Link, LinkState, Neighbour, NeighbourKind

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


class Kind(StrEnum):
    """What a suspect is suspected of."""

    LINK = "link_down"
    ADDRESS = "address"
    VLAN = "vlan"
    DUPLICATE = "duplicate_address"
    NETMASK = "netmask"
    GATEWAY = "gateway"
    CABLE = "cable"
    MISSING = "missing"
    DEVICE = "device"  # link and address are fine, or not known: NIC, optic, cable, port or its configuration
    ISLAND = "island"
    SERVER = "server"
    LEAF = "leaf"
    LEAF_CUT_OFF = "leaf_cut_off"
    UPLINKS = "uplinks"
    LOSS = "loss"
    ONE_WAY_IN = "one_way_towards"
    ONE_WAY_OUT = "one_way_from"
    PAIR = "pair"
    FIBRE = "fibre"  # a pair without a switch between
    PATH = "path"
    PARTITION = "partition"
    SLOW_HOST = "slow_host"


ROOTS = {
    "NET001": Kind.LINK,
    "NET002": Kind.ADDRESS,
    "NET003": Kind.DUPLICATE,
    "NET004": Kind.NETMASK,
    "NET005": Kind.GATEWAY,
    "CAB002": Kind.CABLE,
    "CAB003": Kind.VLAN,
    "CAB004": Kind.LINK,
    "HST002": Kind.MISSING,
}
"""Findings of an audit that explain a silent or lossy device, and what they make of it (facts/mesh 10)."""

_UNREACHED = "HST001"


@dataclass(frozen=True, slots=True)
class Clues:
    """Facts beside the probes: the audit's findings, the leaf of each device, VLANs of each segment.

    ``away``: servers that did not answer, or were lost while they probed.
    """

    cluster: Cluster
    seen: Seen
    roots: dict[Place, str]
    leaf: dict[Place, str]
    pvid: dict[Place, int]
    usual: dict[Hashable, int | None]
    away: frozenset[str] = frozenset()

    def kind(self, device: Place) -> Kind:
        """Return what the audit, else the device's own facts make of its silence."""
        if device in self.roots:
            return ROOTS[self.roots[device]]
        link = self.seen.at(device, Link)
        if link is not None and link.state is LinkState.DOWN:
            return Kind.LINK
        address = self.seen.at(device, DeviceAddress)
        planned = self.cluster.planned(device)
        if self.seen.unset(device, DeviceAddress) or (
            address is not None and planned is not None and address.interface != planned.interface
        ):
            return Kind.ADDRESS
        usual = self.usual.get(_network(self.cluster, device))
        if usual is not None and self.pvid.get(device, usual) != usual:
            return Kind.VLAN
        return Kind.DEVICE

    @property
    def pair(self) -> Kind:
        """What two devices are that nobody else can tell apart."""
        return Kind.FIBRE if self.cluster.topology is Topology.DIRECT else Kind.PAIR

    def root(self, *places: Place) -> str:
        """Return the audit's finding at one of these places or their owners that explains a fault here, or nothing."""
        for place in places:
            for here in (place, place.owner):
                if here in self.roots:
                    return f"{self.roots[here]} {here}"
        return ""

    def absent(self, *places: Place) -> str:
        """Return the server among the owners of these places that does not answer, as its verdict, or nothing."""
        return next((f"{_UNREACHED} {p.owner}" for p in places if p.name in self.away and p != p.owner), "")

    def unheard(self, server: Place) -> str:
        """Return the verdict of a server that does not answer, where one other server alone says that it is silent.

        That one may as well be cut off itself: only two witnesses make a silent server a finding of its own.
        """
        others = sum(s.name not in self.away for s in self.cluster.servers)
        return f"{_UNREACHED} {server}" if server.name in self.away and others == 1 else ""

    def known(self, *places: Place) -> str:
        """Return what explains a fault here: a finding of the audit, else a server that does not answer."""
        servers = (self.unheard(p) for p in places if p == p.owner)
        return self.root(*places) or self.absent(*places) or next(filter(None, servers), "")

    def dead(self, device: Place) -> bool:
        """Tell whether the audit already knows that nothing can pass at this device."""
        return device in self.roots or self.kind(device) in (Kind.LINK, Kind.ADDRESS)

    def excused(self, device: Place) -> bool:
        """Tell whether its silence is no riddle: a fault is known, or its server does not answer either."""
        return device.name in self.away or self.dead(device)


def gather(cluster: Cluster, seen: Seen, audit: tuple[Verdict, ...] = ()) -> Clues:
    """Collect what is known beside the probes. ``audit``: verdicts of the checks, as far as they were run."""
    roots: dict[Place, str] = {}
    for verdict in audit:
        if verdict.code in ROOTS and verdict.outcome.value == "fail":
            roots.setdefault(verdict.place, verdict.code)
    switches = {d: n for d, n in seen.each(Neighbour) if n.kind is not NeighbourKind.DEVICE and n.system}
    pvid = {d: n.pvid for d, n in switches.items() if n.pvid is not None}
    segments: dict[Hashable, dict[Place, int]] = {}
    for device, vlan in pvid.items():
        segments.setdefault(_network(cluster, device), {})[device] = vlan
    return Clues(
        cluster=cluster,
        seen=seen,
        roots=roots,
        leaf={d: n.system for d, n in switches.items()},
        pvid=pvid,
        usual={network: majority(vlans) for network, vlans in segments.items()},
        away=frozenset(v.place.name for v in audit if v.code == _UNREACHED and v.outcome.value == "unknown"),
    )


def _network(cluster: Cluster, device: Place) -> Hashable:
    planned = cluster.planned(device)
    return device.device if planned is None else planned.interface.network
