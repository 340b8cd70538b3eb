"""The parameter plane of the file: pool, segments, explicit addresses."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from rankready.config import _values
from rankready.config._places import device
from rankready.config._servers import device_ids, once, server_names
from rankready.config._walk import near, quoted
from rankready.model.addressing import Segment
from rankready.model.cluster import ParameterPlane

if TYPE_CHECKING:
    from rankready.config._servers import Roll
    from rankready.config._shape import AddressShape, ClusterShape, PlaneShape, SegmentShape
    from rankready.config._walk import Walk
    from rankready.model.addressing import Address, Interface, Network
    from rankready.model.place import Place

_LEAST_MTU6 = 1280  # RFC 8200
_MOST_HOST = (1 << 32) - 2


def read_plane(walk: Walk, shape: ClusterShape, roll: Roll) -> ParameterPlane:
    """Read the parameter plane; notes mixed IP families, unknown places and numbers that do not fit."""
    plane = shape.parameter_plane
    found = ParameterPlane(
        pool=plane.pool,
        segments=tuple(
            s
            for i, written in enumerate(plane.segments)
            if written and (s := _segment(walk, i, shape, roll)) is not None
        ),
        addresses=_addresses(walk, plane, roll),
        prefix=plane.prefix,
        gateway=_gateway(walk, plane),
        netdetect=plane.netdetect,
        mtu=plane.mtu,
    )
    _one_family(walk, found)
    _sizes(walk, found)
    return found


def _segment(walk: Walk, number: int, shape: ClusterShape, roll: Roll) -> Segment | None:
    written = shape.parameter_plane.segments[number]
    path = f"parameter_plane.segments[{number}]"
    if written is None or written.network is None:
        return None
    positions: tuple[int, ...] = ()
    if written.positions is not None:
        positions = device_ids(walk, f"{path}.positions", written.positions, shape.generation)
    _segment_gateway(walk, path, written.network, written.gateway)
    return Segment(
        network=written.network,
        gateway=written.gateway,
        positions=positions,
        servers=_segment_servers(walk, path, written, roll),
    )


def _segment_gateway(walk: Walk, path: str, network: Network, gateway: Address | None) -> None:
    if gateway is None:
        return
    edges = (network.network_address, network.broadcast_address)
    if gateway not in network:
        walk.wrong(f"{path}.gateway", quoted(str(gateway)), f"an address of {network}")
    elif gateway in edges and isinstance(gateway, IPv4Address):
        walk.wrong(f"{path}.gateway", f"{gateway}, an edge of {network}", f"a host address of {network}")


def _segment_servers(walk: Walk, path: str, written: SegmentShape, roll: Roll) -> tuple[str, ...]:
    if written.servers is None:
        return ()
    if isinstance(written.servers, str):
        return server_names(walk, f"{path}.servers", written.servers, roll)
    return tuple(
        name
        for i, text in enumerate(written.servers)
        if text is not None
        for name in server_names(walk, f"{path}.servers[{i}]", text, roll)
    )


def _addresses(walk: Walk, plane: PlaneShape, roll: Roll) -> dict[Place, Interface]:
    found: dict[Place, Interface] = {}
    values: dict[str, str] = {}
    for key, written in plane.addresses.items():
        path = f"parameter_plane.addresses.{key}"
        place = device(walk, path, key, roll)
        interface = _interface(walk, path, written)
        if interface is not None:
            once(walk, values, str(interface.ip), (path, f"the device address {interface.ip}"))
        if place is not None and interface is not None:
            found[place] = interface
    return found


def _interface(walk: Walk, path: str, written: str | AddressShape) -> Interface | None:
    if isinstance(written, str):
        try:
            return _values.interface(written)
        except ValueError as error:
            walk.wrong(path, quoted(written), "an address with mask, such as 10.20.0.5/24", str(error))
            return None
    if written.address is None or written.netmask is None:
        return None
    try:
        return _values.with_mask(written.address, written.netmask)
    except ValueError as error:
        walk.wrong(f"{path}.netmask", quoted(written.netmask), "a mask such as 255.255.255.0", str(error))
        return None


def _gateway(walk: Walk, plane: PlaneShape) -> int | None:
    path, words = "parameter_plane.gateway", "first, none, or a host number such as 254"
    match plane.gateway:
        case None | "none":
            return None
        case "first":
            return 1
        case str() as text:
            walk.wrong(path, quoted(text), words, near(text, ("first", "none")))
            return None
        case number if 1 <= number <= _MOST_HOST:
            return number
        case number:
            walk.wrong(path, str(number), words)
            return None


def _one_family(walk: Walk, plane: ParameterPlane) -> None:
    """One IP family for all ranks of a job (facts/hccn 7.4)."""
    path = "parameter_plane"
    said: list[tuple[str, int]] = []
    if plane.pool is not None:
        said.append((f"{path}.pool", plane.pool.version))
    said += [(f"{path}.segments[{i}].network", s.network.version) for i, s in enumerate(plane.segments)]
    said += [(f"{path}.addresses.{place}", a.version) for place, a in plane.addresses.items()]
    for where, version in said:
        if version != said[0][1]:
            walk.wrong(where, f"IPv{version}", f"IPv{said[0][1]}, as in {walk.at(said[0][0])}")


def _sizes(walk: Walk, plane: ParameterPlane) -> None:
    pool, prefix = plane.pool, plane.prefix
    version = pool.version if pool is not None else 4
    most = 30 if version == 4 else 126  # noqa: PLR2004  (two hosts and the edges)
    if prefix is not None and prefix > most:
        walk.wrong("parameter_plane.prefix", str(prefix), f"a prefix length up to {most}")
    elif prefix is not None and pool is not None and prefix < pool.prefixlen:
        walk.wrong("parameter_plane.prefix", str(prefix), f"at least /{pool.prefixlen}, the pool's own length")
    bits = (pool.max_prefixlen if pool is not None else 32) - (prefix if prefix is not None else 24)
    if prefix is not None and plane.gateway is not None and plane.gateway > (1 << max(bits, 0)) - 2:
        walk.wrong("parameter_plane.gateway", str(plane.gateway), f"a host number inside a /{prefix}")
    written = (*((pool,) if pool else ()), *(s.network for s in plane.segments), *plane.addresses.values())
    six = any(item.version == 6 for item in written)  # noqa: PLR2004  (IP version)
    if plane.mtu is not None and plane.mtu < _LEAST_MTU6 and six:
        walk.wrong("parameter_plane.mtu", str(plane.mtu), f"at least {_LEAST_MTU6} with IPv6")
