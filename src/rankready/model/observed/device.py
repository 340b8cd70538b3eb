"""Facts about one device's network, as the device itself reports them (facts/hccn 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipaddress import IPv4Interface, IPv6Address, IPv6Interface

    from rankready.model.addressing import Address, Interface


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAddress:
    """The address with its mask that the device carries (IPv4). Unset is a Gap of kind UNSET."""

    interface: Interface


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAddressV6:
    """The IPv6 address with its prefix length that the device carries."""

    interface: IPv6Interface


@dataclass(frozen=True, slots=True, kw_only=True)
class BondAddresses:
    """The addresses of the bonded ports of one device, in the tool's order (Atlas 9000 A3)."""

    interfaces: tuple[IPv4Interface, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGateway:
    """The default gateway of a device. Unset is a Gap of kind UNSET."""

    address: Address
    iface: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGatewayV6:
    """The default IPv6 gateway of a device."""

    address: IPv6Address
    iface: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetDetect:
    """The address that a device probes to judge its own network. 0.0.0.0 is a Gap of kind UNSET."""

    target: Address


class Health(StrEnum):
    """Values of the tool's net health, in its own words (facts/hccn 3.3)."""

    SUCCESS = "Success"
    SOCKET_FAIL = "Socket fail"
    RECEIVE_TIMEOUT = "Receive timeout"
    UNREACHABLE = "Unreachable"
    TIME_EXCEEDED = "Time exceeded"
    FAULT = "Fault"
    INIT = "Init"
    THREAD_ERROR = "Thread error"
    DETECT_IP_SET = "Detect ip set"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetHealth:
    """What the device says of its own network; about one target only."""

    status: Health


class LinkState(StrEnum):
    """State of a device's port; PARTIAL is a degraded link (A5)."""

    UP = "UP"
    DOWN = "DOWN"
    PARTIAL = "PARTIAL LINK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The port's link state."""

    state: LinkState


@dataclass(frozen=True, slots=True, kw_only=True)
class Vnic:
    """State and address of the virtual interface towards the super pod (A3); informational on A1 and A2."""

    state: LinkState
    interface: IPv4Interface


@dataclass(frozen=True, slots=True, kw_only=True)
class Mac:
    """The port's MAC address, lower case with colons."""

    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mtu:
    """The port's MTU in bytes."""

    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsSwitch:
    """Whether the NPU network uses TLS; must be equal everywhere (facts/launch 0.7)."""

    enabled: bool


class NeighbourKind(StrEnum):
    """What stands at the other end of the cable (facts/hccn 9)."""

    SWITCH = "switch"
    DEVICE = "device"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """What LLDP says stands at the other end. No neighbour is a Gap of kind UNSET. Cut parts are empty or None.

    ``whole``: the end mark was there, so that what is missing was not said; it is about the answer, not the neighbour.
    """

    kind: NeighbourKind
    system: str  # system name, else chassis id
    port: str
    chassis: str = ""
    description: str = ""
    management: str = ""
    pvid: int | None = None
    frame_size: int | None = None
    whole: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkHistory:
    """Link changes since boot; ``downs`` None: an old driver that does not count them. Newest change first."""

    ups: int
    downs: int | None
    changes: tuple[tuple[str, LinkState], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """Packet counters by the tool's own names. A missing name is not zero.

    ``partial``: some of the names that today's drivers print are not there (an old driver, or a lost line).
    """

    values: tuple[tuple[str, int], ...]
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CountersAgain:
    """The same counters some seconds later: what grew in between is what happens now (facts/hccn 3.1)."""

    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceHeld:
    """Whether a job holds the device's network (`hccp process`)."""

    held: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """Result of one device-to-device ping: packets sent and received."""

    target: Address
    sent: int
    received: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """The port's speed; None: the device itself does not know (usually the link is down)."""

    mbit_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplex:
    """Whether the port is full duplex; None: the device itself does not know."""

    full: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fec:
    """The port's forward error correction: rs, no or auto."""

    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NetdevStatus:
    """The port as ethtool sees it; what it does not say is None."""

    iface: str
    detected: bool
    mbit_s: int | None = None
    full_duplex: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalLldp:
    """What the device tells its neighbour by LLDP: its port id and system name."""

    port: str
    system: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetVersions:
    """Versions of the network driver and firmware of a device."""

    driver: str
    firmware: str
