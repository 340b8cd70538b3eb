"""Facts about one server and its operating system."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.addressing import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The server answered: its own host name, user, OS and clock (seconds since the epoch, its own)."""

    hostname: str
    user: str
    os: str
    clock: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfLine:
    """One `key_N=value` line of /etc/hccn.conf."""

    line: int
    key: str
    device: int | None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HccnConf:
    """/etc/hccn.conf as read (facts/hccn 6). ``problems`` are lines that the tool would not read, in words."""

    lines: tuple[ConfLine, ...]
    problems: tuple[str, ...] = ()

    def value(self, key: str, device: int) -> str | None:
        """Return the value that stands for a device, or None; the first line of a key is the one that is read."""
        for line in self.lines:
            if line.key == key and line.device == device:
                return line.value
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """One device as npu-smi lists it. ``physical`` is None where the table does not tell it (facts/hccn 5.2)."""

    npu: int
    chip: int
    name: str
    health: str = ""
    logic: int | None = None
    physical: int | None = None
    bus: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chips:
    """All devices of one server as npu-smi lists them, and the processes on them (npu, chip, pid, name)."""

    chips: tuple[Chip, ...]
    driver: str = ""
    processes: tuple[tuple[int, int, int, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFiles:
    """Physical ids for which /dev/davinciN (or its stand-in) exists."""

    devices: tuple[int, ...]


class FirewallKind(StrEnum):
    """Programs that filter a server's traffic."""

    UFW = "ufw"
    FIREWALLD = "firewalld"
    NFT = "nft"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ufw:
    """Whether ufw is active; ``rules`` as it lists them. Not installed is a Gap of kind UNSUPPORTED."""

    active: bool
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Firewalld:
    """Whether firewalld runs, and whether systemd would start it again. Not installed: a Gap of kind UNSUPPORTED."""

    active: bool
    enabled: bool | None = None
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Nft:
    """Filter chains on input whose policy or rules refuse packets: (family, table, chain, policy)."""

    chains: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAddress:
    """One address of the server's own interfaces: (interface, address)."""

    addresses: tuple[tuple[str, Address], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostNames:
    """What the server's own host name resolves to on the server itself."""

    hostname: str
    resolved: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """TCP ports that something listens on."""

    ports: tuple[int, ...]
