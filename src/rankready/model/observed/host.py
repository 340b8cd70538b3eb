"""Facts about one server and its operating system."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.addressing import Address, Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The server answered: its own host name, user, OS and clock.

    ``clock``: seconds since the epoch that its own clock showed when the whole look began, so that servers compare;
    ``slack_s``: by how much that may be off either way, because nobody knows when exactly it was read.
    """

    hostname: str
    user: str
    os: str
    clock: float | None = None
    slack_s: float = 0.0


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
class HccnConfText:
    """The exact text of /etc/hccn.conf, so that it can be put back bit for bit. No file is a Gap of kind UNSET."""

    text: str


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


class Action(StrEnum):
    """What a rule does with a packet."""

    ACCEPT = "accept"
    DROP = "drop"  # silence: the peer waits until its timeout
    REJECT = "reject"  # an answer: the peer fails at once


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRule:
    """One rule for new TCP connections: first match wins. ``source`` None: from anywhere.

    ``sure`` is false when the rule has further conditions (an interface, a rate) that can't be judged from here.
    """

    action: Action
    source: Network | None = None
    first: int = 0
    last: int = 65535
    sure: bool = True

    def matches(self, source: Address, port: int) -> bool:
        """Tell whether a connection from ``source`` to ``port`` comes under this rule."""
        return self.first <= port <= self.last and (self.source is None or source in self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFilter:
    """An ordered list of rules and what happens to the rest. ``default`` None: not known."""

    name: str
    rules: tuple[FilterRule, ...] = ()
    default: Action | None = None
    version: int | None = None  # judges this IP version only; None: both

    def edges(self, first: int, last: int) -> frozenset[int]:
        """Return the ports of a range at which a judgement can change: one of each stretch that is judged alike."""
        starts = {first} | {r.first for r in self.rules} | {r.last + 1 for r in self.rules}
        return frozenset(port for port in starts if first <= port <= last)

    def admits(self, source: Address, port: int) -> bool | None:
        """Tell whether a new TCP connection gets through; None where that depends on what we can't judge."""
        if self.version is not None and self.version != source.version:
            return True
        perhaps: set[Action | None] = set()
        last = self.default
        for rule in self.rules:
            if not rule.matches(source, port):
                continue
            if rule.sure:
                last = rule.action
                break
            perhaps.add(rule.action)
        outcomes = {None if action is None else action is Action.ACCEPT for action in perhaps | {last}}
        return outcomes.pop() if len(outcomes) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ufw:
    """Whether ufw is active; ``rules`` as it lists them. Not installed is an answer too: it filters nothing."""

    active: bool
    rules: tuple[str, ...] = ()
    installed: bool = True
    filters: tuple[InputFilter, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Zone:
    """One firewalld zone that is in use. ``sources``: who comes under it; none: what comes by its interfaces."""

    name: str
    sources: tuple[Network, ...]
    filter: InputFilter
    default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Firewalld:
    """Whether firewalld runs, and whether systemd would start it again. Not installed is an answer too."""

    active: bool
    enabled: bool | None = None
    rules: tuple[str, ...] = ()
    installed: bool = True
    zones: tuple[Zone, ...] = ()

    def filters_for(self, source: Address) -> tuple[Zone, ...]:
        """Return the zones that may judge a source: one that names it, else all that judge by interface."""
        named = [z for z in self.zones if any(source in network for network in z.sources)]
        if named:
            return (max(named, key=lambda z: max(n.prefixlen for n in z.sources if source in n)),)
        return tuple(z for z in self.zones if not z.sources or z.default)

    def edges(self, first: int, last: int) -> frozenset[int]:
        """Return the ports of a range at which a judgement can change."""
        return frozenset(port for zone in self.zones for port in zone.filter.edges(first, last)) | {first}

    def admits(self, source: Address, port: int) -> bool | None:
        """Tell whether a new TCP connection gets through; None where zones differ and its interface is not known."""
        outcomes = {zone.filter.admits(source, port) for zone in self.filters_for(source)}
        return outcomes.pop() if len(outcomes) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Nft:
    """Filter chains on input that may refuse packets: (family, table, chain, policy), and what they let in.

    Chains of ufw and firewalld are left to them. Neither installed nor readable is a Gap.
    """

    chains: tuple[tuple[str, str, str, str], ...]
    filters: tuple[InputFilter, ...] = ()  # one for each of ``chains``, in their order


@dataclass(frozen=True, slots=True, kw_only=True)
class Iptables:
    """Input chains of iptables that may refuse packets and that nft does not show; usually none.

    ``programs`` names the program of each of ``filters``; ``rules`` as it lists them.
    """

    programs: tuple[str, ...] = ()
    filters: tuple[InputFilter, ...] = ()
    rules: tuple[str, ...] = ()


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
