"""What a fault can do to a lab, whatever door it stands behind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rankready.lab.gate import Gate
    from rankready.lab.spec import LabSpec
    from rankready.lab.wiring import Wiring
    from rankready.model.place import Place


class Direction(StrEnum):
    """Which packets are dropped at a device's port."""

    IN = "in"  # towards the device
    OUT = "out"  # from the device
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What a device carries now: ``10.20.0.1/24`` or empty, and its gateway or empty."""

    address: str = ""
    gateway: str = ""


class World(Protocol):
    """The lab's own low level. Every call is synchronous, bounded in time, and raises LabError with the reason."""

    spec: LabSpec
    wiring: Wiring

    def set_link(self, device: Place, *, up: bool) -> None:
        """Set the far end of a device's cable up or down."""

    def move(self, device: Place, vlan: int) -> None:
        """Put the port of a device into another VLAN."""

    def swap(self, one: Place, other: Place) -> None:
        """Swap the cables of two devices at their far ends."""

    def carried(self, device: Place) -> Carried:
        """Read what the device carries."""

    def carry(self, device: Place, what: Carried) -> None:
        """Make the device carry this, and leave the file alone."""

    def conf(self, server: str) -> str:
        """Read the server's device configuration file."""

    def set_conf(self, server: str, text: str) -> None:
        """Replace the server's device configuration file."""

    def drop(self, device: Place, percent: int, direction: Direction) -> None:
        """Drop this share of IP packets at the device's port; LLDP and ARP pass."""

    def stop_dropping(self, device: Place) -> None:
        """Undo ``drop``."""

    def set_gate(self, server: str, gate: Gate) -> None:
        """Open, close or hang a server's SSH."""

    def power(self, server: str, *, on: bool) -> None:
        """Cut a server's power, or give it back: the disk stays; devices start from their file, as a driver does."""

    def run(self, server: str, *argv: str) -> str:
        """Run a program on a server, as root there; returns its output, raises LabError when it fails."""

    def baseline(self) -> dict[str, str]:
        """Describe everything that faults touch and the product does not: masters, links, names, rules, gates."""
