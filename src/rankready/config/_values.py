"""One scalar of the file → one value; ValueError says what is wrong with it."""

from __future__ import annotations

import re
from datetime import date
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, ip_interface, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.addressing import Address, Interface, Network

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def address(text: str) -> Address:
    """Read one IP address without a mask."""
    try:
        return ip_address(text)
    except ValueError:
        raise ValueError("a mask stands where none belongs" if "/" in text else "") from None


def network(text: str) -> Network:
    """Read a network; host bits and masks that are not contiguous are refused."""
    host, slash, mask = text.partition("/")
    if not slash:
        raise ValueError(f"no mask; {text}/16 would be one")
    length = prefix_length(address(host), mask)
    found = ip_network(f"{host}/{length}", strict=False)
    if found.network_address != address(host):
        raise ValueError(f"host bits are set; the network is {found}")
    return found


def interface(text: str) -> Interface:
    """Read an address with its mask."""
    host, slash, mask = text.partition("/")
    if not slash:
        raise ValueError(f"no mask; {text}/24 would have one")
    return with_mask(address(host), mask)


def with_mask(host: Address, mask: str) -> Interface:
    """Join an address with a mask that stood apart."""
    return ip_interface(f"{host}/{prefix_length(host, mask)}")


def prefix_length(host: Address, mask: str) -> int:
    """Read ``24`` or ``255.255.255.0``. A host mask (0.0.0.255) is no mask here, nor is one with holes."""
    if isinstance(host, IPv4Address) and "." in mask:
        bits = int(address(mask))
        length = bits.bit_count()
        if bits != int(IPv4Network((0, length)).netmask):
            raise ValueError(f"{mask} is not contiguous")
        return length
    most = 128 if isinstance(host, IPv6Address) else 32
    if not (mask.isascii() and mask.isdecimal() and len(mask) <= 3 and int(mask) <= most):  # noqa: PLR2004  (digits of 128)
        raise ValueError(f"{mask} is no prefix length, 0 to {most}")
    return int(mask)


def day(text: str) -> date:
    """Read a calendar day, 2027-01-31."""
    if not _DAY.fullmatch(text):
        raise ValueError("not written as year-month-day")
    return date.fromisoformat(text)
