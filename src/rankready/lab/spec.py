"""What a lab is to be: how many servers, which generation, how joined, by which door."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rankready.model.errors import LabError
from rankready.model.place import Place, PlaceKind

MOST_SERVERS = 250
"""Two hundred and fifty servers of one VLAN fit into one Linux bridge (1024 ports, facts/lab 3)."""


class Generation(StrEnum):
    """Which servers the lab pretends to have. The lab's own word: it must not know the product's rules."""

    A1 = "a1"
    A2 = "a2"
    A3 = "a3"


class Topology(StrEnum):
    """How the devices are joined: all to a leaf, or device i of server1 to device i of server2."""

    SWITCH = "switch"
    DIRECT = "direct"


class Door(StrEnum):
    """What the lab is built from (facts/lab 2)."""

    AUTO = "auto"
    ROOTLESS = "rootless"
    ROOT = "root"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSpec:
    """One lab. Raises LabError for what can't be built."""

    servers: int = 2
    generation: Generation = Generation.A1
    topology: Topology = Topology.SWITCH
    door: Door = Door.AUTO
    directory: Path = Path("rankready-lab")

    def __post_init__(self) -> None:
        if not 1 <= self.servers <= MOST_SERVERS:
            raise LabError(f"a lab has 1 to {MOST_SERVERS} servers, not {self.servers}")
        if self.topology is Topology.DIRECT and self.servers != 2:  # noqa: PLR2004  (a fibre has two ends)
            raise LabError(f"topology direct joins exactly 2 servers, not {self.servers}")

    @property
    def devices(self) -> int:
        """How many devices each server has (facts/hccn 5.1)."""
        return 16 if self.generation is Generation.A3 else 8

    @property
    def names(self) -> tuple[str, ...]:
        """The servers' names, in order."""
        return tuple(f"server{k + 1}" for k in range(self.servers))

    def holds(self, place: Place) -> bool:
        """Tell whether the lab has such a server or device."""
        match place.kind:
            case PlaceKind.SERVER:
                return place.name in self.names
            case PlaceKind.DEVICE:
                return place.name in self.names and 0 <= place.device < self.devices
            case _:
                return False

    def peer(self, device: Place) -> Place | None:
        """The device at the other end of a direct fibre; None behind a switch."""
        if self.topology is not Topology.DIRECT:
            return None
        other = self.names[1] if device.name == self.names[0] else self.names[0]
        return Place(PlaceKind.DEVICE, other, device=device.device)
