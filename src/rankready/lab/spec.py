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

_NEIGHBOURS = 1024
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

    ``split_ports``: the leaf's ports are halves of 400G ports, two devices on each. ``real_firewall``: the machine's
    own ufw or firewalld instead of the lab's stand-in with the same words. ``leaves``: over so many leaves the servers
    are spread, in blocks; between leaves nothing is lost.
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
    split_ports: bool = False
    leaves: int = 1

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
        if not 1 <= self.leaves <= self.servers or (self.leaves > 1 and self.lldp is Lldp.LLDPD):
            raise LabError(
                f"{self.servers} servers have 1 to {self.servers} leaves, with a real lldpd 1; not {self.leaves}",
                zh=f"{self.servers} 台服务器可有 1 到 {self.servers} 台 leaf（真实 lldpd 时为 1），非 {self.leaves}",
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

    @property
    def crowded(self) -> bool:
        """Tell whether pairs that ping each other fill the neighbour table that all namespaces of a kernel share.

        Linux keeps 1,024 entries (`gc_thresh3`) and drops what would need one more.
        """
        return self.servers * (self.servers - 1) * self.devices > _NEIGHBOURS // 2

    def leaf(self, number: int) -> str:
        """The leaf that the devices of a server hang on; servers are numbered from 0."""
        return f"leaf{number * self.leaves // self.servers + 1}"

    def holds(self, place: Place) -> bool:
        """Tell whether the lab has such a server, device or leaf."""
        match place.kind:
            case PlaceKind.LEAF:
                return self.topology is Topology.SWITCH and place.name in map(self.leaf, range(self.servers))
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
            "split_ports": self.split_ports,
            "leaves": self.leaves,
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
        split_ports=bool(told.get("split_ports", False)),
        leaves=int(told.get("leaves", 1)),
    )
