"""Reads the TLS state of a device (facts/hccn 3.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.device import TlsSwitch
from rankready.model.observed.tls import Certificate, TlsReport
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import asked_device, payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_SWITCH = re.compile(
    r"dev_id:\s*(\d{1,2}), tls switch\[([01])\]\(0:disable, 1:enable\)"
    r"(?:, tls preconfigured\[([01])\]\(0:non-preset, 1:preset\))?"
    r"(?:, tls alarm time threshold\[(\d{1,4})\]days)?\s*",
    re.ASCII,
)
_CERTIFICATE = re.compile(r"dev_id:\s*(\d{1,2}), \[([\w ]+)\] info:\s*", re.ASCII)
_ISSUER = re.compile(r"\s*issuer\[(.*)\]\s*")
_START = re.compile(r"\s*start_time\[([^\[\]]*)\]\s*")
_END = re.compile(r"\s*end_time\[([^\[\]]*)\]\s*")
_EXPIRY = re.compile(r"\s*tls expiration status\[([012])\]\(0:normal, 1:near expiration, 2:has expired\)\s*", re.ASCII)
_EXPIRIES = ("normal", "near", "expired")
_BLOCK = 4  # head, issuer, start, end


def read_tls(reply: Reply) -> TlsSwitch | Gap:
    """Read the switch out of `-tls -g`; everything else that it says must make sense too."""
    found = read_tls_report(reply)
    return found if isinstance(found, Gap) else TlsSwitch(enabled=found.enabled)


def read_tls_report(reply: Reply) -> TlsReport | Gap:
    """Read all of `-tls -g`. Nothing proves that the list of certificates is whole."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    switch = _SWITCH.fullmatch(said[0])
    asked = asked_device(reply)
    if switch is None or (asked is not None and int(switch[1]) != asked):
        return unexpected(said)
    expiry = _EXPIRY.fullmatch(said[-1])
    body = said[1 : len(said) - (expiry is not None)]
    certificates = tuple(
        c for n in range(0, len(body), _BLOCK) if (c := _certificate(body[n : n + _BLOCK], switch[1])) is not None
    )
    if len(certificates) * _BLOCK != len(body) or len({c.role for c in certificates}) != len(certificates):
        return unexpected(body)
    return TlsReport(
        enabled=switch[2] == "1",
        preset=None if switch[3] is None else switch[3] == "1",
        alarm_days=None if switch[4] is None else int(switch[4]),
        certificates=certificates,
        expiry=_EXPIRIES[int(expiry[1])] if expiry else None,
    )


def _certificate(block: tuple[str, ...], device: str) -> Certificate | None:
    if len(block) != _BLOCK:
        return None
    head, issuer = _CERTIFICATE.fullmatch(block[0]), _ISSUER.fullmatch(block[1])
    start, end = _START.fullmatch(block[2]), _END.fullmatch(block[3])
    if head is None or issuer is None or start is None or end is None or head[1] != device:
        return None
    return Certificate(role=head[2], issuer=issuer[1], start=start[1], end=end[1])
