"""The layout of cluster.yaml. A field's description is what its mistake says was expected."""

from __future__ import annotations

from datetime import date  # noqa: TC003  (msgspec reads annotations at run time)
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from rankready.model.cluster import Generation, NetDetectPolicy, Topology  # noqa: TC001  (the same)

Ip = IPv4Address | IPv6Address
Net = IPv4Network | IPv6Network

Word = Annotated[str, Meta(min_length=1, max_length=4096, description="a text")]
Name = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,252}$", description="a name of letters, digits, - _ and .")
]
Port = Annotated[int, Meta(ge=1, le=65535, description="a port, 1 to 65535")]
AnAddress = Annotated[Ip, Meta(description="an IP address")]
ANetwork = Annotated[Net, Meta(description="a network such as 10.20.0.0/16")]
Ids = (
    Annotated[str, Meta(min_length=1, description="device ids such as 0-7")]
    | tuple[Annotated[int, Meta(ge=0, le=15, description="a device id, 0 to 15")] | None, ...]
)
"""A list's wrong entries are None, here and below: the others keep their numbers."""


class Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of the file. ``needs`` are the keys that must stand there; every other has a default."""

    needs: ClassVar[tuple[str, ...]] = ()


class SshShape(Shape, frozen=True, kw_only=True):
    """Login defaults for all servers."""

    user: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_][\w.@\\+$-]*$", description="a login name")] | None = None
    port: Port | None = None
    key: Annotated[str, Meta(min_length=1, description="the path of a private key")] | None = None
    known_hosts: Annotated[str, Meta(min_length=1, description="the path of a known_hosts file")] | None = None
    jump: Annotated[str, Meta(min_length=1, description="a login such as user@gate:22")] | None = None
    sudo: Annotated[bool, Meta(description="true or false")] | None = None


class ServerShape(Shape, frozen=True, kw_only=True):
    """One server."""

    name: Name | None = None
    ssh: Annotated[str, Meta(min_length=1, description="a login such as root@10.0.0.11:22")] | None = None
    address: AnAddress | None = None
    devices: Ids | None = None


class SegmentShape(Shape, frozen=True, kw_only=True):
    """One IP network of the parameter plane."""

    needs: ClassVar[tuple[str, ...]] = ("network",)
    network: ANetwork | None = None
    gateway: AnAddress | None = None
    positions: Ids | None = None
    servers: Word | tuple[Word | None, ...] | None = None


class AddressShape(Shape, frozen=True, kw_only=True):
    """One device address, with its mask apart."""

    needs: ClassVar[tuple[str, ...]] = ("address", "netmask")
    address: AnAddress | None = None
    netmask: Annotated[str, Meta(min_length=1, description="a mask such as 255.255.255.0")] | None = None


class PlaneShape(Shape, frozen=True, kw_only=True):
    """Where device addresses come from."""

    pool: ANetwork | None = None
    segments: tuple[SegmentShape | None, ...] = ()
    addresses: dict[
        str, Annotated[str, Meta(description="an address with mask, such as 10.20.0.5/24")] | AddressShape
    ] = {}
    prefix: Annotated[int, Meta(ge=1, le=126, description="a prefix length, 1 to 30 (IPv6: to 126)")] | None = None
    gateway: Annotated[int | str, Meta(description="first, none, or a host number such as 254")] | None = None
    netdetect: NetDetectPolicy = NetDetectPolicy.AUTO
    mtu: Annotated[int, Meta(ge=68, le=9702, description="an MTU in bytes, 68 to 9702")] | None = None


class JobShape(Shape, frozen=True, kw_only=True):
    """What a job takes when the command line says nothing."""

    master_port: Port | None = None
    hccl_base_port: Annotated[int, Meta(ge=1024, le=65520, description="a port, 1024 to 65520")] | None = None
    nic: Annotated[str, Meta(pattern=r"^[^\s/]{1,15}$", description="an interface name such as eth0")] | None = None
    python: Word | None = None
    launcher: Name | None = None
    env: dict[str, Annotated[str, Meta(description="a text")]] = {}
    setup: Word | None = None


class WaiverShape(Shape, frozen=True, kw_only=True):
    """One accepted finding."""

    needs: ClassVar[tuple[str, ...]] = ("code", "place", "reason", "expires")
    code: Annotated[str, Meta(pattern=r"^[A-Z]{3}[0-9]{3}$", description="a code such as NET001")] | None = None
    place: Annotated[str, Meta(min_length=1, description="a place such as server2/3")] | None = None
    reason: Word | None = None
    expires: Annotated[date, Meta(description="a day such as 2027-01-31")] | None = None


class ClusterShape(Shape, frozen=True, kw_only=True):
    """The whole file."""

    needs: ClassVar[tuple[str, ...]] = ("cluster", "generation", "servers")
    cluster: Name | None = None
    generation: Generation | None = None
    topology: Topology = Topology.SWITCH
    ssh: SshShape = SshShape()
    servers: Word | tuple[Word | ServerShape | None, ...] = ()
    parameter_plane: PlaneShape = PlaneShape()
    cabling: dict[str, Annotated[str, Meta(description="a far end such as leaf1/GE1/0/3")]] = {}
    job: JobShape = JobShape()
    simulated: bool = False
    waivers: tuple[WaiverShape | None, ...] = ()
