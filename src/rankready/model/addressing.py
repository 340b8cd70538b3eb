"""Addresses on the parameter plane, parsed."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.place import Place

Address = IPv4Address | IPv6Address
Interface = IPv4Interface | IPv6Interface
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceAddressing:
    """What one device should carry: its address with mask, its gateway, the address that it probes (netdetect)."""

    interface: Interface
    gateway: Address | None = None
    netdetect: Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One IP network on the parameter plane and the device positions that live in it.

    ``positions`` are physical ids; empty means "by the generation's rule". ``servers`` limits it to some servers
    (one segment per leaf); empty means all.
    """

    network: Network
    gateway: Address | None = None
    positions: tuple[int, ...] = ()
    servers: tuple[str, ...] = ()


Addressing = dict["Place", DeviceAddressing]
"""Device place → what it should carry, in cluster order. Treated as frozen once made."""


def is_six(addressing: Mapping[Place, DeviceAddressing]) -> bool:
    """Tell whether devices are planned to carry IPv6; families are never mixed (facts/hccn 7.4)."""
    first = next(iter(addressing.values()), None)
    return first is not None and first.interface.version == 6  # noqa: PLR2004  (the family)


def by_owner(addressing: Mapping[Place, DeviceAddressing]) -> dict[Address, Place]:
    """Index planned addresses by value."""
    return {a.interface.ip: place for place, a in addressing.items()}
