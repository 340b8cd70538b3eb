"""Asks, reads and sets a device's network with the vendor's hccn_tool (facts/hccn 2, 3).

What undo can do on a device that had nothing set: the tool documents no way to take away an address or a gateway
(`-ip` and `-gateway` know `-g` and `-s` alone, facts/hccn 3.1). An address that was set where none stood stays on the
device until it is reset; undo can only put the lines of /etc/hccn.conf back (tools/hccn_conf), so that the next boot
finds none. A netdetect target is taken away by setting 0.0.0.0. ``impossible`` tells which changes these are.
"""

from __future__ import annotations

from ipaddress import IPv4Address, ip_address, ip_interface
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.setting import Setting
from rankready.model.change import What
from rankready.model.command import Command
from rankready.model.errors import PlanError
from rankready.model.observed.device import (
    Counters,
    CountersAgain,
    DeviceAddress,
    DeviceAddressV6,
    DeviceGateway,
    DeviceGatewayV6,
    DeviceHeld,
    Fec,
    Link,
    LinkHistory,
    Mac,
    Mtu,
    Neighbour,
    NetDetect,
    NetHealth,
    NetVersions,
    Speed,
    TlsSwitch,
)
from rankready.model.observed.optics import Optics
from rankready.model.observed.traffic import DscpMap, Pfc
from rankready.model.snapshot import Gap, GapKind
from rankready.tools._hccn_address import (
    read_bond,
    read_gateway,
    read_gateway6,
    read_ip,
    read_ip6,
    read_netdetect,
    read_vnic,
)
from rankready.tools._hccn_counters import frames, read_again, read_bandwidth, read_counters, read_verbs_counters
from rankready.tools._hccn_link import (
    read_duplex,
    read_fec,
    read_health,
    read_held,
    read_history,
    read_link,
    read_mac,
    read_mtu,
    read_speed,
    read_status,
)
from rankready.tools._hccn_lldp import read_lldp, read_local_lldp
from rankready.tools._hccn_optics import read_optics, read_switches
from rankready.tools._hccn_ping import read_hccs_ping, read_ping, read_roce_test, read_trace
from rankready.tools._hccn_qos import (
    read_dscp,
    read_gratuitous_arp,
    read_pfc,
    read_shaping,
    read_udp,
    read_versions,
)
from rankready.tools._hccn_set import accepted, read_accepted, read_recovery, read_recovery_status
from rankready.tools._hccn_tables import read_table
from rankready.tools._hccn_tls import read_tls, read_tls_report
from rankready.tools._hccn_words import BUSY, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.model.addressing import Address
    from rankready.model.change import Change
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place

__all__ = [
    "QUESTIONS",
    "READERS",
    "SETTINGS",
    "SET_LANE",
    "TOOL",
    "call",
    "frames",
    "impossible",
    "ping",
    "read_ping",
    "reader",
]

TOOL = "hccn_tool"

_GET_S = 15.0
_LONG_S = 30.0
"""The tool has no timeout of its own for set and ping (facts/hccn 2.3)."""

SET_LANE = "set"
"""All set commands of one server run one after another: they share /etc/hccn.conf (facts/hccn 2.2)."""


def call(device: int, *words: str, timeout_s: float = _GET_S, lane: str = "") -> Command:
    """Make one call about one device; calls about one device share a lane, named by the device's number."""
    argv = (TOOL, "-i", str(device), *words)
    return Command(argv=argv, timeout_s=timeout_s, lane=lane or str(device), busy=BUSY)


def ping(device: int, target: Address, *, lane: str = "") -> Command:
    """Ask a device to ping an address: three packets, no timeout of the tool's own."""
    if isinstance(target, IPv4Address):
        return call(device, "-ping", "-g", "address", str(target), timeout_s=_LONG_S, lane=lane)
    return call(device, "-ping", "-inet6", "-g", "ipv6_address", str(target), timeout_s=_LONG_S, lane=lane)


def _device(fact: type, read: Callable[[Reply], object], *words: str) -> Question[object]:
    def ask(_server: Server, place: Place) -> Command:
        return call(place.device, *words)

    def answer(reply: Reply, _place: Place) -> object:
        return read(reply)

    return Question(fact=fact, scope=Scope.DEVICE, ask=ask, read=answer)


QUESTIONS: tuple[Question[object], ...] = (
    _device(Counters, read_counters, "-stat", "-g"),  # first, so that most time passes until they are asked again
    _device(DeviceAddress, read_ip, "-ip", "-g"),
    _device(DeviceGateway, read_gateway, "-gateway", "-g"),
    _device(DeviceAddressV6, read_ip6, "-ip", "-inet6", "-g"),
    _device(DeviceGatewayV6, read_gateway6, "-gateway", "-inet6", "-g"),
    _device(NetDetect, read_netdetect, "-netdetect", "-g"),
    _device(NetHealth, read_health, "-net_health", "-g"),
    _device(Link, read_link, "-link", "-g"),
    _device(Mac, read_mac, "-mac", "-g"),
    _device(Mtu, read_mtu, "-mtu", "-g"),
    _device(TlsSwitch, read_tls, "-tls", "-g"),
    _device(Neighbour, read_lldp, "-lldp", "-g"),
    _device(LinkHistory, read_history, "-link_stat", "-g"),
    _device(DeviceHeld, read_held, "-process", "-g"),
    _device(Speed, read_speed, "-speed", "-g"),
    _device(Fec, read_fec, "-fec", "-g"),
    _device(Pfc, read_pfc, "-pfc", "-g"),
    _device(DscpMap, read_dscp, "-dscp_to_tc", "-g"),
    _device(Optics, read_optics, "-optical", "-g"),
    _device(NetVersions, read_versions, "-version", "-g"),
    _device(CountersAgain, read_again, "-stat", "-g"),
)


def impossible(change: Change) -> Gap | None:
    """Return why the tool has no command for a change: it can't take an address or a gateway away."""
    if change.after or change.what is What.NETDETECT:
        return None
    return Gap(
        f"hccn_tool can't take the {change.what} of {change.place} away",
        GapKind.UNSUPPORTED,
        f"hccn_tool 无法删除 {change.place} 的 {change.what}",
    )


def _set_address(change: Change) -> Command:
    _must_be_possible(change)
    value = ip_interface(change.after)
    if isinstance(value.ip, IPv4Address):
        return _set(change, "-ip", "-s", "address", str(value.ip), "netmask", str(value.netmask))
    prefix = str(value.network.prefixlen)
    return _set(change, "-ip", "-inet6", "-s", "ipv6_address", str(value.ip), "prefix_length", prefix)


def _set_gateway(change: Change) -> Command:
    _must_be_possible(change)
    value = ip_address(change.after)
    family = () if isinstance(value, IPv4Address) else ("-inet6",)
    return _set(change, "-gateway", *family, "-s", "gateway", str(value))


def _set_netdetect(change: Change) -> Command:
    return _set(change, "-netdetect", "-s", "address", str(ip_address(change.after or "0.0.0.0")))  # noqa: S104  (no bind)


def _set(change: Change, *words: str) -> Command:
    return call(change.place.device, *words, timeout_s=_LONG_S, lane=SET_LANE)


def _must_be_possible(change: Change) -> None:
    if (gap := impossible(change)) is not None:
        raise PlanError(gap.reason)


SETTINGS: tuple[Setting, ...] = (
    Setting(what=What.ADDRESS, set=_set_address, accepted=accepted),
    Setting(what=What.GATEWAY, set=_set_gateway, accepted=accepted),
    Setting(what=What.NETDETECT, set=_set_netdetect, accepted=accepted),
)

_IPV6 = "-inet6"
_ACTIONS = frozenset({"-g", "-s", "-a", "-d", "-c"})
_SETS = frozenset({"-s", "-a", "-d", "-c"})

READERS: Mapping[tuple[str, ...], Callable[[Reply], object]] = {
    ("-ip",): read_ip,
    ("-ip", _IPV6): read_ip6,
    ("-bond", "-ip"): read_bond,
    ("-gateway",): read_gateway,
    ("-gateway", _IPV6): read_gateway6,
    ("-netdetect",): read_netdetect,
    ("-net_health",): read_health,
    ("-vnic",): read_vnic,
    ("-link",): read_link,
    ("-link_stat",): read_history,
    ("-mac",): read_mac,
    ("-mtu",): read_mtu,
    ("-speed",): read_speed,
    ("-duplex",): read_duplex,
    ("-fec",): read_fec,
    ("-process",): read_held,
    ("-status",): read_status,
    ("-stat",): read_counters,
    ("-hw_stats",): read_verbs_counters,
    ("-bandwidth",): read_bandwidth,
    ("-tls",): read_tls_report,
    ("-lldp",): read_lldp,
    ("-local_lldp",): read_local_lldp,
    ("-optical",): read_optics,
    ("-optical", "dfx_cfg"): read_switches,
    ("-pfc",): read_pfc,
    ("-dscp_to_tc",): read_dscp,
    ("-shaping",): read_shaping,
    ("-udp",): read_udp,
    ("-send_arp",): read_gratuitous_arp,
    ("-version",): read_versions,
    ("-ping",): read_ping,
    ("-ping", _IPV6): read_ping,
    ("-hccs_ping",): read_hccs_ping,
    ("-traceroute",): read_trace,
    ("-roce_test",): read_roce_test,
    ("-cfg", "recovery"): read_recovery,
    ("-cfg", "status"): read_recovery_status,
    ("-route",): read_table,
    ("-arp",): read_table,
    ("-ip_rule",): read_table,
    ("-ip_route",): read_table,
    ("-neigh", _IPV6): read_table,
}
"""Command words → how to read what such a get answers."""


def reader(arguments: tuple[str, ...]) -> Callable[[Reply], object]:
    """Return how to read the answer to a call; a set is read for acceptance, a command that we don't know for refusal.

    Both grammars are understood: `-i N -CMD -g` and A5's `-g -CMD -i N` (facts/hccn 2.1).
    """
    words = _without_ids(arguments)
    commands = {key[0] for key in READERS}
    name = next((w for w in words if w in commands), "")
    found = [key for key in READERS if name in key and set(key) <= set(words)]
    if name not in ("-ping", "-hccs_ping", "-traceroute", "-roce_test", "-cfg") and _SETS & set(words):
        return read_accepted
    return READERS[max(found, key=len)] if found else _unread


def _without_ids(arguments: tuple[str, ...]) -> tuple[str, ...]:
    kept: list[str] = []
    skip = False
    for word in arguments:
        if skip:
            skip = False
        elif word in ("-i", "-u", "-p"):
            skip = True
        else:
            kept.append(word)
    return tuple(kept)


def _unread(reply: Reply) -> Gap:
    return refusal(reply) or Gap("no reader for this command", zh="没有该命令的解读")
