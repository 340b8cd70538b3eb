"""What one server answered when nobody had described it yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.addressing import Address, Interface
    from rankready.model.cluster import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Facts of one server, empty where it did not tell; ``reason`` says why it did not answer at all."""

    server: Server
    reason: str = ""
    hostname: str = ""
    os: str = ""
    chips: tuple[str, ...] = ()
    numbered: bool = False  # the chip table has physical ids
    bus: tuple[str, ...] = ()
    host_addresses: tuple[tuple[str, Address], ...] = ()
    addresses: Mapping[int, Interface] = field(default_factory=dict)
    gaps: tuple[str, ...] = ()
