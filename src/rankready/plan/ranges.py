"""Ranges of addresses as integers: what is closed, what is open, how many. No list of hosts is ever built."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankready.model.addressing import Interface, Network

NO_UNICAST: tuple[Network, ...] = (
    IPv4Network("0.0.0.0/8"),
    IPv4Network("127.0.0.0/8"),
    IPv4Network("169.254.0.0/16"),
    IPv4Network("224.0.0.0/3"),
    IPv6Network("::/127"),
    IPv6Network("fe80::/10"),
    IPv6Network("ff00::/8"),
)
"""Where no device can live whatever the product: this-host, loopback, link-local, multicast and above."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Closed ranges, sorted and disjoint: first numbers, last numbers, and how many numbers lie before each."""

    firsts: tuple[int, ...]
    lasts: tuple[int, ...]
    before: tuple[int, ...]

    def holds(self, number: int) -> bool:
        """Tell whether a number is closed."""
        at = bisect_right(self.firsts, number) - 1
        return at >= 0 and number <= self.lasts[at]

    def next_open(self, number: int) -> int:
        """Return the first number that is not closed, from this one upwards."""
        at = bisect_right(self.firsts, number) - 1
        return self.lasts[at] + 1 if at >= 0 and number <= self.lasts[at] else number

    def count(self, low: int, high: int) -> int:
        """Count the closed numbers in low..high, both included."""
        return self._up_to(high) - self._up_to(low - 1) if low <= high else 0

    def _up_to(self, number: int) -> int:
        at = bisect_right(self.firsts, number) - 1
        return 0 if at < 0 else self.before[at] + min(number, self.lasts[at]) - self.firsts[at] + 1


def spans(pairs: Iterable[tuple[int, int]]) -> Spans:
    """Merge ranges, given as first and last number each; touching ones become one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    sizes = [last - first + 1 for first, last in merged]
    before = tuple(accumulate(sizes[:-1], initial=0)) if sizes else ()
    return Spans(tuple(f for f, _ in merged), tuple(n for _, n in merged), before)


def ends(network: Network) -> tuple[int, int]:
    """Return the first and last number of a network."""
    first = int(network.network_address)
    # ``broadcast_address`` makes an address of it, and a network of 32,768 devices is asked several times each
    return first, first + (1 << (network.max_prefixlen - network.prefixlen)) - 1


def all_ends(networks: Sequence[Network], version: int) -> list[tuple[int, int]]:
    """Return the ends of every network of one family."""
    return [ends(n) for n in networks if n.version == version]


def hosts(network: Network) -> tuple[int, int]:
    """Return the first and last number that a device may carry (IPv6 has no broadcast; /31 has neither)."""
    first, last = ends(network)
    if network.prefixlen >= network.max_prefixlen - 1:
        return first, last
    return first + 1, last - (network.version == 4)  # noqa: PLR2004  (the family's own number)


def is_network_address(interface: Interface) -> bool:
    """Tell whether an address is the address of its own network."""
    network = interface.network
    return int(interface) == ends(network)[0] < hosts(network)[0]


def is_broadcast_address(interface: Interface) -> bool:
    """Tell whether an address is the broadcast address of its own network."""
    network = interface.network
    return int(interface) == ends(network)[1] > hosts(network)[1]


def within(network: Network, other: Network) -> bool:
    """Tell whether a network lies inside another, whatever the families."""
    (low, high), (first, last) = ends(network), ends(other)
    return network.version == other.version and first <= low and high <= last


def overlap(network: Network, other: Network) -> bool:
    """Tell whether two networks share an address, whatever the families."""
    (low, high), (first, last) = ends(network), ends(other)
    return network.version == other.version and low <= last and first <= high
