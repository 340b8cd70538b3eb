"""One probe of one device by another, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.addressing import Address
    from rankready.model.place import Place
    from rankready.model.snapshot import Gap
    from rankready.model.text import Text


class Mode(StrEnum):
    """What a schedule proves (facts/mesh 6)."""

    DIRECTED = "directed"  # every ordered pair of a rail
    ROUND_TRIP = "round_trip"  # every pair once: an echo tests both directions
    SPARSE = "sparse"  # enough to name culprits, no proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """``source`` pings ``target`` at ``address``."""

    source: Place
    target: Place
    address: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """Packets sent and received; or a gap: the call could not be made or read, which says nothing of the network."""

    probe: Probe
    sent: int = 0
    received: int = 0
    gap: Gap | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """Pairs of devices that are not probed, how many (unordered), and the rule that says so."""

    places: tuple[Place, ...]
    pairs: int
    rule: Text
