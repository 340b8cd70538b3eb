"""What devices carry, as the texts that plans and journals hold: address, gateway, netdetect."""

from __future__ import annotations

from ipaddress import ip_interface
from typing import TYPE_CHECKING

from rankready.model.change import What
from rankready.model.observed.device import (
    DeviceAddress,
    DeviceAddressV6,
    DeviceGateway,
    DeviceGatewayV6,
    NetDetect,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.model.addressing import Address
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

Values = dict[str, str | None]
"""What → value; empty where the tool answered that nothing is set, None where it is not known."""


def values(seen: Seen, place: Place, *, six: bool) -> Values:
    """Return all that can be set on a device as it stands now."""
    return {what.value: value(seen, place, what, six=six) for what in What}


def value(seen: Seen, place: Place, what: What, *, six: bool) -> str | None:
    """Return one value of a device, in the form that a change writes."""
    match what:
        case What.ADDRESS:
            kind: type[DeviceAddress | DeviceAddressV6] = DeviceAddressV6 if six else DeviceAddress
            address = seen.at(place, kind)
            found = None if address is None else str(address.interface)
            return found if found or not seen.unset(place, kind) else ""
        case What.GATEWAY:
            way: type[DeviceGateway | DeviceGatewayV6] = DeviceGatewayV6 if six else DeviceGateway
            gateway = seen.at(place, way)
            found = None if gateway is None else str(gateway.address)
            return found if found or not seen.unset(place, way) else ""
        case What.NETDETECT:
            target = seen.at(place, NetDetect)
            found = None if target is None else str(target.target)
            return found if found or not seen.unset(place, NetDetect) else ""


def addresses(seen: Seen, places: Iterable[Place], *, six: bool) -> dict[Place, Address]:
    """Return the addresses that these devices carry; a device without one is left out."""
    told = ((place, value(seen, place, What.ADDRESS, six=six)) for place in places)
    return {place: ip_interface(text).ip for place, text in told if text}
