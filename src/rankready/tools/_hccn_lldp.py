"""Reads LLDP: what stands at the other end of the cable, and what the device tells it (facts/hccn 9).

The text follows `lldptool -t -n`: a TLV's name in column 0, its value lines behind one tab; later lines of a System
Description are not indented. The device's buffer is of fixed size, so the tail may be cut anywhere. Without the end
mark the last line is not trusted, whether or not a newline follows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.kind.reading import address, strange, unended, unexpected
from rankready.model.observed.device import LocalLldp, Neighbour, NeighbourKind
from rankready.model.snapshot import Gap, GapKind
from rankready.tools._hccn_words import refusal

if TYPE_CHECKING:
    from rankready.model.command import Reply

_CHASSIS, _PORT, _TTL = "Chassis ID TLV", "Port ID TLV", "Time to Live TLV"
_PORT_NAME, _SYSTEM, _DESCRIPTION = "Port Description TLV", "System Name TLV", "System Description TLV"
_MANAGEMENT, _FRAME, _PVID = "Management Address TLV", "Maximum Frame Size TLV", "Port VLAN ID TLV"
_CAPABILITIES, _END = "System Capabilities TLV", "End of LLDPDU TLV"
_SINGLE = frozenset({_CHASSIS, _PORT, _TTL, _PORT_NAME, _SYSTEM, _FRAME, _PVID})
_SEVERAL = frozenset(
    {
        _MANAGEMENT,
        _CAPABILITIES,
        "MAC/PHY Configuration Status TLV",
        "Link Aggregation TLV",
        "Unidentified Org Specific TLV",
    }
)
_NAMES = _SINGLE | _SEVERAL | {_DESCRIPTION, _END}
_REPEATED = frozenset({_MANAGEMENT, "Unidentified Org Specific TLV"})
_LABELLED = re.compile(r"(MAC|Ifname|Local|Interface Alias|IPv4|IPv6):\s*(\S(?:.*\S)?)\s*")
_MAC = re.compile(r"[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}", re.ASCII)
_NUMBER = re.compile(r"(?:PVID:\s*)?(\d{1,5})\s*", re.ASCII)
_STRAY = re.compile(r"\t(?:System|Enabled) capabilities:.*|\t(?:IPv4|IPv6|Ifindex|OID|PVID|MAC|Ifname):.*")
_OPEN = "the neighbour's words are cut off before its name and port"


@dataclass(frozen=True, slots=True)
class _Packet:
    """TLVs by name with their value lines, tabs taken off; ``whole``: the end mark was there."""

    tlvs: dict[str, tuple[str, ...]]
    whole: bool

    def value(self, name: str) -> str:
        found = self.tlvs.get(name, ())
        return found[0] if found else ""


def read_lldp(reply: Reply) -> Neighbour | Gap:
    """Read `-lldp -g`. Silence (nothing, or one blank line) with exit 0 is UNSET: no neighbour is known."""
    packet = _packet(reply)
    if isinstance(packet, Gap):
        return packet
    port = _port(packet)
    system = packet.value(_SYSTEM) or (_identity(packet.value(_CHASSIS)) if packet.whole else "")
    if not system or not port:
        return Gap(_OPEN, zh="邻居信息在其名称与端口之前被截断")
    return Neighbour(
        kind=_kind(packet),
        system=system,
        port=port,
        chassis=_identity(packet.value(_CHASSIS)),
        description=_description(packet),
        management=_management(packet),
        pvid=_number(packet.value(_PVID)),
        frame_size=_number(packet.value(_FRAME)),
        whole=packet.whole,
    )


def read_local_lldp(reply: Reply) -> LocalLldp | Gap:
    """Read `-local_lldp -g`: what the device tells its neighbour."""
    packet = _packet(reply)
    if isinstance(packet, Gap):
        return packet
    if not packet.whole:
        return Gap("cut off before its end mark", zh="应答在结束标记之前被截断")
    return LocalLldp(port=_identity(packet.value(_PORT)), system=packet.value(_SYSTEM))


def _packet(reply: Reply) -> _Packet | Gap:
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = [line.rstrip("\r") for line in reply.stdout.split("\n")]
    first = next((line for line in said if line.strip()), "")
    if first != _CHASSIS or reply.exit != 0 or reply.stderr.strip():
        silent = reply.exit == 0 and not reply.both.strip()
        unset = Gap("no neighbour is known", GapKind.UNSET, "未发现邻居") if silent else None
        return unset or refusal(reply) or unexpected(first)
    whole = _END in said
    while said and not said[-1].strip():
        said.pop()
    said = said[said.index(first) :]
    return _parsed(said if whole else said[:-1], whole=whole)


def _parsed(said: list[str], *, whole: bool) -> _Packet | Gap:
    found: list[tuple[str, list[str]]] = []
    for line in said:
        if line in _NAMES:
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
    last = len(found) - 1
    for number, (name, values) in enumerate(found):
        if not _well_formed(name, values, open_end=not whole and number == last):
            return Gap(
                f"{name} holds {len(values)} lines that don't fit it", zh=f"{name} 有 {len(values)} 行与之不符的内容"
            )
    if not _in_order([name for name, _ in found], whole=whole):
        return Gap("LLDP parts are missing, doubled or out of order", zh="LLDP 字段缺失、重复或乱序")
    tlvs = {name: tuple(v.strip() for v in values if v.strip()) for name, values in reversed(found)}
    return _Packet(tlvs=tlvs, whole=whole)


def _in_order(names: list[str], *, whole: bool) -> bool:
    """Tell whether the three mandatory parts come first, none but two kinds comes twice, and the end comes last."""
    once = [name for name in names if name not in _REPEATED]
    first = [_CHASSIS, _PORT, _TTL]
    if len(set(once)) != len(once):
        return False
    return (names[:3] == first and names[-1] == _END) if whole else names[:3] == first[: len(names)]


def _well_formed(name: str, values: list[str], *, open_end: bool) -> bool:
    tabbed = [v for v in values if v.startswith("\t") and v.strip()]
    if name == _END:
        return not any(v.strip() for v in values)
    if name == _DESCRIPTION:
        # A stray value line of another part in free text tells that a part's name was lost.
        fits = bool(tabbed and values[0] == tabbed[0]) and not any(_STRAY.fullmatch(v) for v in values)
        return fits or (open_end and not values)
    if name in _SINGLE:
        return len(values) == len(tabbed) and (len(values) == 1 or (open_end and not values))
    if name == _CAPABILITIES and not open_end:
        return len(values) == len(tabbed) == 2  # noqa: PLR2004  (what it can, what is enabled)
    return len(values) == len(tabbed) and (bool(values) or open_end)


def _port(packet: _Packet) -> str:
    """Return the port's name, else its description, else its id; of a cut text only a name is sure."""
    label = _LABELLED.fullmatch(packet.value(_PORT))
    if label is None:
        return ""
    if label[1] == "Ifname":
        return label[2]
    named = packet.value(_PORT_NAME)
    return named or (label[2] if packet.whole else "")


def _identity(value: str) -> str:
    label = _LABELLED.fullmatch(value)
    if label is None:
        return value
    return label[2].lower() if _MAC.fullmatch(label[2]) else label[2]


def _kind(packet: _Packet) -> NeighbourKind:
    description = " ".join(packet.tlvs.get(_DESCRIPTION, ()))
    if "AscendNPU" in description:
        return NeighbourKind.DEVICE
    if "Routing" in description or any("Bridge" in line for line in packet.tlvs.get(_CAPABILITIES, ())):
        return NeighbourKind.SWITCH
    return NeighbourKind.UNKNOWN


def _description(packet: _Packet) -> str:
    """Return the description; empty where the cut may lie inside it."""
    is_last = next(iter(packet.tlvs), "") == _DESCRIPTION
    return "" if is_last and not packet.whole else "\n".join(packet.tlvs.get(_DESCRIPTION, ()))


def _management(packet: _Packet) -> str:
    for line in packet.tlvs.get(_MANAGEMENT, ()):
        label = _LABELLED.fullmatch(line)
        if label and label[1] == "IPv4" and address(label[2]) is not None:
            return label[2]
    return ""


def _number(value: str) -> int | None:
    match = _NUMBER.fullmatch(value)
    return int(match[1]) if match else None
