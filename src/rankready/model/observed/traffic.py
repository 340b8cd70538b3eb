"""Facts about what flows through a device's port, and by which rules (facts/hccn 3.1, 7.6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.addressing import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbsCounters:
    """The RoCE driver's own counters, by its own names; nothing proves that the list is whole."""

    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandwidth:
    """What flows at this moment, in megabytes per second."""

    tx_mb_s: float
    rx_mb_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pfc:
    """For each of the eight priorities, whether priority flow control makes it lossless."""

    lossless: tuple[bool, ...]

    @property
    def priorities(self) -> tuple[int, ...]:
        """The lossless priorities."""
        return tuple(n for n, on in enumerate(self.lossless) if on)


@dataclass(frozen=True, slots=True, kw_only=True)
class DscpMap:
    """The traffic class of each DSCP 0 to 63."""

    classes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """The bandwidth limit of a port and the most that it could be, megabits per second."""

    limit_mbit_s: int
    most_mbit_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UdpPort:
    """The UDP source port of RoCE packets and how it is chosen (auto, custom, multi_qp, …)."""

    port: int
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GratuitousArp:
    """Whether the device announces its address by itself, and how often."""

    enabled: bool
    period_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HccsPing:
    """Result of one ping over HCCS inside a super pod (A3); times in microseconds."""

    target: Address
    sent: int
    received: int
    longest_us: float
    shortest_us: float
    average_us: float
    tp95_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The way to a target: (hop number, address or None for one that kept silent), in order."""

    target: Address
    hops: tuple[tuple[int, Address | None], ...]
    reached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RoceTest:
    """Result of a bandwidth test between two devices, as the client reports it."""

    size_bytes: int
    iterations: int
    peak_mb_s: float
    average_mb_s: float


class TableKind(StrEnum):
    """Tables of a device's network stack."""

    ROUTE = "route"
    ARP = "arp"
    RULE = "ip_rule"
    IP_ROUTE = "ip_route"
    NEIGHBOUR = "neigh"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetTable:
    """Rows of one table as cells, as the device prints them; nothing proves that the list is whole."""

    kind: TableKind
    rows: tuple[tuple[str, ...], ...]
