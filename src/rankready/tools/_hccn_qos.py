"""Reads how a device treats its traffic: PFC, DSCP map, shaping, UDP port, gratuitous ARP; and its versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.device import NetVersions
from rankready.model.observed.traffic import DscpMap, GratuitousArp, Pfc, Shaping, UdpPort
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import exactly, one, payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_PFC = (
    re.compile(r"PFC configuration:\s*", re.ASCII),
    re.compile(r"priority\s+0 1 2 3 4 5 6 7\s*", re.ASCII),
    re.compile(r"enabled\s+([01](?: [01]){7})\s*", re.ASCII),
)
_DSCP_HEAD = re.compile(r"dscp\s+tc\s*", re.ASCII)
_DSCP_ROW = re.compile(r"\s*(\d{1,2})\s+(\d)\s*", re.ASCII)
_DSCPS = 64
_SHAPING = re.compile(r"bw_limit\[(\d{1,7}) Mbps\], bw_max\[(\d{1,7}) Mbps\]\s*", re.ASCII)
_UDP = (
    re.compile(r"udp_port:\s*(\d{1,5})\s*", re.ASCII),
    re.compile(r"status:\s*(auto|custom|multi_qp|code\([\w]+\))\s*", re.ASCII),
)
_MOST_PORTS = 65535
_ARP = (
    re.compile(r"The setting of the gratuitous arp:\s*", re.ASCII),
    re.compile(r"current enable status:\s*(enable|disable)\s*", re.ASCII),
    re.compile(r"gratuitous arp period:\s*(\d{1,5})\s*", re.ASCII),
)
_VERSION = r"\s*([A-Za-z0-9][\w.-]*)\s*"
_VERSIONS = (
    re.compile(r"Network Driver Version:" + _VERSION, re.ASCII),
    re.compile(r"Network Firmware Version:" + _VERSION, re.ASCII),
)


def read_pfc(reply: Reply) -> Pfc | Gap:
    """Read `-pfc -g`."""
    found = exactly(reply, *_PFC)
    return found if isinstance(found, Gap) else Pfc(lossless=tuple(bit == "1" for bit in found[2][1].split()))


def read_dscp(reply: Reply) -> DscpMap | Gap:
    """Read `-dscp_to_tc -g`: a header and 64 rows in order."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [m for line in said[1:] if (m := _DSCP_ROW.fullmatch(line))]
    if not _DSCP_HEAD.fullmatch(said[0]) or len(rows) != len(said) - 1:
        return unexpected(said)
    if [int(m[1]) for m in rows] != list(range(_DSCPS)):
        return Gap(
            f"{len(rows)} rows instead of DSCP 0 to 63 in order", zh=f"有 {len(rows)} 行，而非依次的 DSCP 0 至 63"
        )
    return DscpMap(classes=tuple(int(m[2]) for m in rows))


def read_shaping(reply: Reply) -> Shaping | Gap:
    """Read `-shaping -g`."""
    match = one(reply, _SHAPING)
    return match if isinstance(match, Gap) else Shaping(limit_mbit_s=int(match[1]), most_mbit_s=int(match[2]))


def read_udp(reply: Reply) -> UdpPort | Gap:
    """Read `-udp -g`."""
    found = exactly(reply, *_UDP)
    if isinstance(found, Gap):
        return found
    port = int(found[0][1])
    return (
        UdpPort(port=port, mode=found[1][1])
        if port <= _MOST_PORTS
        else Gap(f"{port} is no port", zh=f"{port} 不是端口号")
    )


def read_gratuitous_arp(reply: Reply) -> GratuitousArp | Gap:
    """Read `-send_arp -g`."""
    found = exactly(reply, *_ARP)
    if isinstance(found, Gap):
        return found
    return GratuitousArp(enabled=found[1][1] == "enable", period_s=int(found[2][1]))


def read_versions(reply: Reply) -> NetVersions | Gap:
    """Read `-version -g`."""
    found = exactly(reply, *_VERSIONS)
    return found if isinstance(found, Gap) else NetVersions(driver=found[0][1], firmware=found[1][1])
