"""What the user says about the cluster, and what the rules make of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path  # noqa: TC003  (msgspec and dataclass tools read these annotations at run time)
from typing import TYPE_CHECKING

from rankready.model.place import cluster_place, device_place, server_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date

    from rankready.model.addressing import Address, DeviceAddressing, Interface, Network, Segment
    from rankready.model.place import Place


class Generation(StrEnum):
    """Server generations (facts/hccn, "Generations")."""

    A1 = "a1"
    A2 = "a2"
    A3 = "a3"


class Topology(StrEnum):
    """How devices are joined: through a switch, or port to port."""

    SWITCH = "switch"
    DIRECT = "direct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """How SSH reaches a server. ``host`` may differ from the address that servers use among themselves.

    ``sudo``: the user is not root, and everything is done through ``sudo`` without a password.
    """

    host: str
    user: str = ""
    port: int | None = None
    key: Path | None = None
    known_hosts: Path | None = None
    jump: str = ""
    sudo: bool = False

    def __str__(self) -> str:
        """``user@host:port`` without what was not said."""
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port else ""
        return f"{user}{self.host}{port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """One AI server. ``address`` is its address inside the cluster (MASTER_ADDR, host NIC); None = not said."""

    name: str
    login: Login
    address: Address | None = None
    devices: tuple[int, ...] = tuple(range(8))

    @property
    def place(self) -> Place:
        """The server's place."""
        return server_place(self.name)

    def device_places(self) -> tuple[Place, ...]:
        """All devices of this server, by physical id."""
        return tuple(device_place(self.name, d) for d in self.devices)


class NetDetectPolicy(StrEnum):
    """What a device probes to judge its own network."""

    AUTO = "auto"  # the gateway where there is one, else the peer
    GATEWAY = "gateway"
    PEER = "peer"  # the device at the same position of the next server
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterPlane:
    """Where device addresses come from: one pool, explicit segments, explicit addresses, or a mix.

    ``gateway`` names the host number inside each computed segment (1 = first address); None = no gateway.
    """

    pool: Network | None = None
    segments: tuple[Segment, ...] = ()
    addresses: Mapping[Place, Interface] = field(default_factory=dict)
    prefix: int | None = None
    gateway: int | None = None
    netdetect: NetDetectPolicy = NetDetectPolicy.AUTO
    mtu: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cable:
    """One end of the planned cabling: device → (leaf, port), or device → device for direct fibre."""

    device: Place
    far: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDefaults:
    """What `run` assumes when the command line says nothing."""

    master_port: int = 29500
    hccl_base_port: int = 60000
    nic: str = ""
    python: str = "python3"
    launcher: str = "ranks"
    env: Mapping[str, str] = field(default_factory=dict)
    setup: str = ""  # a file that the job's shell sources first, e.g. .../set_env.sh


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A finding that someone has looked at and accepts until a day: still shown, not counted (code and place alike)."""

    code: str
    place: Place
    reason: str
    expires: date

    def covers(self, code: str, place: Place, today: date) -> bool:
        """Tell whether this finding is waived today; the last day still counts."""
        return code == self.code and place == self.place and today <= self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """All of it: what the user wrote, plus the addressing that the rules computed (empty until planned).

    ``simulated`` is true when the inventory says that answers come from a model, not from a kernel.
    """

    name: str
    generation: Generation
    topology: Topology
    servers: tuple[Server, ...]
    parameter_plane: ParameterPlane
    cables: tuple[Cable, ...] = ()
    job: JobDefaults = JobDefaults()
    addressing: Mapping[Place, DeviceAddressing] = field(default_factory=dict)
    file: Path | None = None
    simulated: bool = False
    waivers: tuple[Waiver, ...] = ()

    @property
    def place(self) -> Place:
        """The cluster as a place."""
        return cluster_place(self.name)

    def server(self, name: str) -> Server:
        """Find a server by name; raises KeyError."""
        for server in self.servers:
            if server.name == name:
                return server
        raise KeyError(name)

    def devices(self) -> Iterator[Place]:
        """Every device, in cluster order."""
        for server in self.servers:
            yield from server.device_places()

    def rails(self) -> Iterator[tuple[int, tuple[Place, ...]]]:
        """Each position with the devices that stand there on every server, in cluster order."""
        positions = sorted({d for s in self.servers for d in s.devices})
        for position in positions:
            yield position, tuple(device_place(s.name, position) for s in self.servers if position in s.devices)

    def planned(self, device: Place) -> DeviceAddressing | None:
        """What the plan gives this device; None before a plan was computed."""
        return self.addressing.get(device)

    def nodes(self) -> tuple[Server, ...]:
        """Servers in node_rank order: node 0 is the first in the file."""
        return self.servers
