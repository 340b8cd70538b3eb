"""What a lab is to be: how many servers, which generation, how joined, by which door, of which real parts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.model.errors import LabError
from rankready.model.place import Place, PlaceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

CLUSTER = Place(PlaceKind.CLUSTER, "lab")
"""The whole of it, as the product's configuration calls it."""

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


class Ssh(StrEnum):
    """Who answers SSH: one process of the lab for all servers, or a real sshd in each (facts/lab 6)."""

    ASYNCSSH = "asyncssh"
    OPENSSH = "openssh"


class Lldp(StrEnum):
    """Who speaks LLDP: the lab's small speaker, or a real lldpd per device and one on the leaf (facts/lab 9)."""

    SMALL = "small"
    LLDPD = "lldpd"


class Firewall(StrEnum):
    """Which firewall the servers have; it is off until a fault switches it on."""

    NONE = "none"
    UFW = "ufw"
    FIREWALLD = "firewalld"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabSpec:
    """One lab. Raises LabError for what can't be built.

    ``real_firewall``: the machine's own ufw or firewalld instead of the lab's stand-in with the same words.
    """

    servers: int = 2
    generation: Generation = Generation.A1
    topology: Topology = Topology.SWITCH
    door: Door = Door.AUTO
    directory: Path = Path("rankready-lab")
    ssh: Ssh = Ssh.ASYNCSSH
    lldp: Lldp = Lldp.SMALL
    firewall: Firewall = Firewall.UFW
    real_firewall: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.servers <= MOST_SERVERS:
            raise LabError(
                f"a lab has 1 to {MOST_SERVERS} servers, not {self.servers}",
                zh=f"模拟集群可有 1 到 {MOST_SERVERS} 台服务器，不能是 {self.servers} 台",
            )
        if self.topology is Topology.DIRECT and self.servers != 2:  # noqa: PLR2004  (a fibre has two ends)
            raise LabError(
                f"topology direct joins exactly 2 servers, not {self.servers}",
                zh=f"直连拓扑（direct）只能连接 2 台服务器，不能是 {self.servers} 台",
            )
        if self.real_firewall and self.firewall is Firewall.NONE:
            raise LabError("--real-firewall with --firewall none: which one?", zh="--real-firewall 需要指定 --firewall")
        if self.real_parts and self.door not in (Door.ROOT, Door.AUTO):
            parts = ", ".join(self.real_parts)
            raise LabError(
                f"{parts}: real parts need the root door, not {self.door}",
                zh=f"{parts}：真实组件需要 root 方式，不能用 {self.door}",
            )

    @property
    def real_parts(self) -> tuple[str, ...]:
        """The options that ask for programs of the machine instead of the lab's own."""
        asked = {
            "--ssh openssh": self.ssh is Ssh.OPENSSH,
            "--lldp lldpd": self.lldp is Lldp.LLDPD,
            f"--real-firewall ({self.firewall})": self.real_firewall,
        }
        return tuple(words for words, so in asked.items() if so)

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

    def told(self) -> dict[str, Any]:
        """Everything but the folder, as JSON values."""
        return {
            "size": self.servers,
            "generation": str(self.generation),
            "topology": str(self.topology),
            "door": str(self.door),
            "ssh": str(self.ssh),
            "lldp": str(self.lldp),
            "firewall": str(self.firewall),
            "real_firewall": self.real_firewall,
        }


def read_spec(told: Mapping[str, Any], directory: Path) -> LabSpec:
    """Read what ``told`` wrote. Raises LabError, KeyError, ValueError, TypeError."""
    return LabSpec(
        servers=int(told["size"]),
        generation=Generation(told["generation"]),
        topology=Topology(told["topology"]),
        door=Door(told["door"]),
        directory=directory,
        ssh=Ssh(told["ssh"]),
        lldp=Lldp(told["lldp"]),
        firewall=Firewall(told["firewall"]),
        real_firewall=bool(told["real_firewall"]),
    )
