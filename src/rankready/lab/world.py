"""What a fault can do to a lab, whatever door it stands behind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    @property
    def spec(self) -> LabSpec:
        """What the lab was asked to be."""

    @property
    def wiring(self) -> Wiring:
        """Which device hangs where, now."""

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

    def gate(self, server: str) -> Gate:
        """How a server's SSH answers now."""

    def set_gate(self, server: str, gate: Gate) -> None:
        """Open, close or hang a server's SSH."""

    def power(self, server: str, *, on: bool) -> None:
        """Cut a server's power, or give it back: the disk stays; devices start from their file, as a driver does.

        A start returns once the server answers. Both are idempotent.
        """

    def turn(self, device: Place, values: Mapping[str, str]) -> dict[str, str]:
        """Set switches of a device's make-believe tools, empty: none; returns what stood there."""

    def mtu(self, device: Place) -> str:
        """Ask the device's tool for its MTU."""

    def set_mtu(self, device: Place, size: str) -> None:
        """Set a device's MTU by its tool, which writes the file as well."""

    def firewall(self, server: str) -> bool:
        """Tell whether the server's firewall is on."""

    def set_firewall(self, server: str, *, on: bool) -> None:
        """Switch the server's firewall on, SSH let in, or off; what stood in its rules stays."""

    def hosts(self, server: str) -> str:
        """Read the server's hosts file, from which its resolver answers."""

    def set_hosts(self, server: str, text: str) -> None:
        """Replace the server's hosts file."""

    def set_memory(self, server: str, megabytes: int | None) -> None:
        """Give the server this much memory and no more; None: all that the machine has."""

    def baseline(self) -> dict[str, str]:
        """Describe everything that faults touch and the product does not: masters, links, names, rules, gates."""


class ByTool(ABC):
    """What a device's own tool does, the same behind every door."""

    __slots__ = ()

    @abstractmethod
    def run(self, server: str, *argv: str) -> str:
        """Run a program on a server, as root there; returns its output. Raises LabError when it fails."""

    def mtu(self, device: Place) -> str:
        """See World."""
        return self.run(device.name, *_mtu(device), "-g").strip().removeprefix("mtu:")

    def set_mtu(self, device: Place, size: str) -> None:
        """See World."""
        self.run(device.name, *_mtu(device), "-s", "size", size)

    def recover(self, server: str) -> None:
        """What the driver does at boot: put the file's words on the devices (facts/hccn 6).

        What is wrong in the file is not the lab's business, and the tool calls it a failure.
        """
        with suppress(LabError):
            self.run(server, "hccn_tool", "-a", "-cfg", "recovery")


def _mtu(device: Place) -> tuple[str, ...]:
    return ("hccn_tool", "-i", str(device.device), "-mtu")
