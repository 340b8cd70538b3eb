"""LLDP frames: what the leaf and the devices say on the wire (IEEE 802.1AB; facts/lab 9). Pure."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP = bytes.fromhex("0180c200000e")
ETHERTYPE = 0x88CC
TTL_S = 120

_CHASSIS, _PORT, _TTL, _PORTDESC, _SYSNAME, _SYSDESC, _CAPS, _MGMT, _ORG = 1, 2, 3, 4, 5, 6, 7, 8, 127
_PVID = bytes.fromhex("0080c201")
_FRAME = bytes.fromhex("00120f04")
_CAPABILITIES = ((1, "Repeater"), (2, "Bridge"), (4, "Router"), (7, "Station Only"))
_MAC_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """What one end of a cable says about itself. MACs are ``02:…`` texts; an empty text is not said."""

    mac: str
    chassis: str
    port: str
    portdesc: str = ""
    sysname: str = ""
    sysdesc: str = ""
    mgmt: str = ""
    pvid: int | None = None
    frame: int = 1500
    capabilities: tuple[str, ...] = ()

    def frame_bytes(self) -> bytes:
        """The whole Ethernet frame."""
        head = GROUP + _mac(self.mac) + struct.pack("!H", ETHERTYPE)
        return head + b"".join(_tlv(kind, value) for kind, value in self._parts()) + b"\0\0"

    def _parts(self) -> Iterator[tuple[int, bytes]]:
        yield _CHASSIS, b"\x04" + _mac(self.chassis)
        yield _PORT, b"\x05" + self.port.encode()
        yield _TTL, struct.pack("!H", TTL_S)
        for kind, text in ((_PORTDESC, self.portdesc), (_SYSNAME, self.sysname), (_SYSDESC, self.sysdesc)):
            if text:
                yield kind, text.encode()
        if self.capabilities:
            bits = sum(1 << bit for bit, name in _CAPABILITIES if name in self.capabilities)
            yield _CAPS, struct.pack("!HH", bits, bits)
        if self.mgmt:
            # subtype 1 = IPv4, then the interface by ifIndex (2), no object identifier
            yield _MGMT, b"\x05\x01" + socket.inet_aton(self.mgmt) + b"\x02" + struct.pack("!I", 1) + b"\0"
        if self.pvid is not None:
            yield _ORG, _PVID + struct.pack("!H", self.pvid)
        yield _ORG, _FRAME + struct.pack("!H", self.frame)


def heard(frame: bytes) -> dict[str, str] | None:
    """Read a frame into the keys of a neighbour file; None when it is no LLDP."""
    if len(frame) < 14 or struct.unpack_from("!H", frame, 12)[0] != ETHERTYPE:  # noqa: PLR2004  (Ethernet header)
        return None
    found: dict[str, str] = {}
    for kind, value in _tlvs(frame[14:]):
        found.update(_read(kind, value))
    return found


def _read(kind: int, value: bytes) -> dict[str, str]:
    texts = {_PORTDESC: "PORTDESC", _SYSNAME: "SYSNAME", _SYSDESC: "SYSDESC"}
    found: dict[str, str] = {}
    if kind in texts:
        found[texts[kind]] = value.decode(errors="replace")
    elif kind == _CHASSIS and value[:1] == b"\x04":
        found["CHASSIS"] = value[1:].hex(":")
    elif kind == _PORT:
        found["PORT"] = value[1:].decode(errors="replace")
    elif kind == _TTL:
        found["TTL"] = str(int.from_bytes(value[:2], "big"))
    elif kind == _CAPS:
        bits = int.from_bytes(value[:2], "big")
        found["CAPS"] = ", ".join(name for bit, name in _CAPABILITIES if bits >> bit & 1)
    else:
        found |= _read_structured(kind, value)
    return found


def _read_structured(kind: int, value: bytes) -> dict[str, str]:
    if kind == _MGMT and value[:2] == b"\x05\x01":
        return {"MGMT": socket.inet_ntoa(value[2:6]), "IFINDEX": str(int.from_bytes(value[7:11], "big"))}
    names = {_PVID: "PVID", _FRAME: "FRAME"}
    if kind == _ORG and value[:4] in names:
        return {names[value[:4]]: str(int.from_bytes(value[4:6], "big"))}
    return {}


def _tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!H", kind << 9 | len(value)) + value


def _tlvs(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 2 <= len(data):
        head = struct.unpack_from("!H", data, at)[0]
        kind, length = head >> 9, head & 511
        if kind == 0 or at + 2 + length > len(data):
            return
        yield kind, data[at + 2 : at + 2 + length]
        at += 2 + length


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))[:_MAC_BYTES]
