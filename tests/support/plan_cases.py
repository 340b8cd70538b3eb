"""Bare clusters to plan for, and devices that obey as the vendor's tool does."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Interface, ip_address, ip_interface, ip_network
from typing import TYPE_CHECKING, Any

from rankready import catalog
from rankready.kind.product import Product
from rankready.model.change import What
from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Server, Topology
from rankready.model.observed.device import DeviceAddress, DeviceAddressV6, DeviceGateway, DeviceGatewayV6, NetDetect
from rankready.model.observed.host import ConfLine, HccnConf
from rankready.model.place import parse_place, server_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.model.addressing import Address, DeviceAddressing, Interface
    from rankready.model.change import Change, Plan
    from rankready.model.place import Place

PRODUCTS = {item.generation: item for item in catalog.offered("products", "PRODUCT", Product)}


def server(name: str, generation: Generation = Generation.A1, **more: Any) -> Server:  # noqa: ANN401  (any field)
    """A server with all devices of its generation; its SSH host is a name."""
    return replace(Server(name=name, login=Login(host=name), devices=PRODUCTS[generation].devices), **more)


def bare(
    servers: int | Iterable[str] = 2,
    generation: Generation = Generation.A1,
    topology: Topology = Topology.SWITCH,
    **plane: Any,  # noqa: ANN401  (any field of the plane)
) -> Cluster:
    """A cluster without addressing; the pool is 10.20.0.0/16 unless the plane says something of its own."""
    names = [f"server{n}" for n in range(1, servers + 1)] if isinstance(servers, int) else servers
    if "pool" in plane or not {"segments", "addresses"} & set(plane):
        plane["pool"] = ip_network(plane.get("pool", "10.20.0.0/16"))
    return Cluster(
        name="lab",
        generation=generation,
        topology=topology,
        servers=tuple(server(name, generation) for name in names),
        parameter_plane=ParameterPlane(**plane),
    )


def typed(words: Mapping[str, str]) -> dict[Place, Interface]:
    """Addresses as a user types them: place → address with prefix."""
    return {parse_place(place): ip_interface(address) for place, address in words.items()}


def interfaces(addressing: Mapping[Place, DeviceAddressing]) -> dict[Place, Interface]:
    """Only the addresses of a plan."""
    return {place: planned.interface for place, planned in addressing.items()}


class Devices:
    """Devices that carry what they are told and write it to their server's file; an address drops a gateway outside."""

    def __init__(self, cluster: Cluster) -> None:
        """Start with nothing set."""
        self.cluster = cluster
        self.address: dict[Place, Interface] = {}
        self.gateway: dict[Place, Address] = {}
        self.target: dict[Place, Address] = {}
        self.conf: dict[str, dict[tuple[str, int], str]] = {s.name: {} for s in cluster.servers}

    def obey(self, plan: Plan) -> None:
        """Make every change of a plan, in its order."""
        for change in plan.changes:
            self._set(change)

    def _set(self, change: Change) -> None:
        place = change.place
        conf = self.conf[place.name]
        match change.what:
            case What.ADDRESS:
                interface = ip_interface(change.after)
                self.address[place] = interface
                four = isinstance(interface, IPv4Interface)
                conf["address" if four else "IPv6address", place.device] = str(interface.ip)
                conf["netmask" if four else "IPv6netmask", place.device] = (
                    str(interface.netmask) if four else str(interface.network.prefixlen)
                )
                if place in self.gateway and self.gateway[place] not in interface.network:
                    del self.gateway[place]
            case What.GATEWAY:
                gateway = ip_address(change.after)
                assert gateway in self.address[place].network  # the tool refuses anything else
                self.gateway[place] = gateway
                conf["gateway" if gateway.version == 4 else "IPv6gateway", place.device] = change.after
            case What.NETDETECT:
                target = ip_address(change.after)
                self.target[place] = target
                conf["netdetect" if target.version == 4 else "IPv6netdetect", place.device] = change.after

    def seen(self) -> Seen:
        """What a look at these devices teaches."""
        return Seen(Snapshot(facts=self.facts()))

    def facts(self) -> dict[tuple[Place, type], object]:
        """The facts of that look, to be broken one at a time."""
        unset = Gap("nothing is set", GapKind.UNSET)
        facts: dict[tuple[Place, type], object] = {}
        for place in self.cluster.devices():
            facts |= {(place, kind): unset for kind in (DeviceAddress, DeviceAddressV6, DeviceGateway, DeviceGatewayV6)}
            facts[place, NetDetect] = NetDetect(target=self.target[place]) if place in self.target else unset
            if place in self.address:
                facts |= {(place, type(f)): f for f in [_address(self.address[place])]}
            if place in self.gateway:
                facts |= {(place, type(f)): f for f in [_gateway(self.gateway[place])]}
        for name, lines in self.conf.items():
            read = tuple(ConfLine(line=n, key=k, device=d, value=v) for n, ((k, d), v) in enumerate(lines.items(), 1))
            facts[server_place(name), HccnConf] = HccnConf(lines=read)
        return facts


def _address(interface: Interface) -> DeviceAddress | DeviceAddressV6:
    if isinstance(interface, IPv4Interface):
        return DeviceAddress(interface=interface)
    return DeviceAddressV6(interface=interface)


def _gateway(address: Address) -> DeviceGateway | DeviceGatewayV6:
    return DeviceGateway(address=address) if address.version == 4 else DeviceGatewayV6(address=address)
