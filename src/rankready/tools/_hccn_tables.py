"""Reads the tables of a device's network stack, row by row, without judging the rows (facts/hccn 3.1).

Only the headers are sure; the bodies are those of busybox or iproute and differ between drivers. A row is kept as its
cells. Nothing proves that the list is whole.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.traffic import NetTable, TableKind
from rankready.model.snapshot import Gap
from rankready.tools._hccn_words import payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_HEADS = {
    TableKind.ROUTE: "Routing table:",
    TableKind.ARP: "arp table:",
    TableKind.RULE: "ip rule table:",
    TableKind.IP_ROUTE: "ip route table:",
    TableKind.NEIGHBOUR: "neigh table:",
}
_SECOND_HEAD = "Destination"
_CELLS = re.compile(r"\S+")
_ROWS = {
    TableKind.ROUTE: re.compile(r"\S+ +\S+ +\S+ +[A-Z]{1,8} +\d+ +\d+ +\d+ +\S+\s*", re.ASCII),
    TableKind.ARP: re.compile(r"\S+ \([0-9a-fA-F.:]+\) at \S+ .*\bon \S+\s*", re.ASCII),
    TableKind.RULE: re.compile(r"\d{1,6}:\s+(?:from|to|not) \S+.*\blookup \S+.*", re.ASCII),
    TableKind.IP_ROUTE: re.compile(r"(?:default|[0-9a-fA-F.:]+(?:/\d{1,3})?) .*\bdev \S+.*", re.ASCII),
    TableKind.NEIGHBOUR: re.compile(r"[0-9a-fA-F.:]+ .*\bdev \S+.*", re.ASCII),
}


def read_table(reply: Reply) -> NetTable | Gap:
    """Read `-route`, `-arp`, `-ip_rule`, `-ip_route` or `-neigh -inet6` with `-g`; the header tells which."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    kind = next((k for k, head in _HEADS.items() if said[0].strip() == head), None)
    if kind is None:
        return unexpected(said)
    rows = said[1:]
    if rows and rows[0].startswith(_SECOND_HEAD):
        rows = rows[1:]
    wrong = next((row for row in rows if not _ROWS[kind].fullmatch(row)), None)
    if wrong is not None:
        return unexpected(wrong)
    if len(set(rows)) != len(rows):
        return Gap("a row stands there twice", zh="同一行出现两次")
    return NetTable(kind=kind, rows=tuple(tuple(_CELLS.findall(row)) for row in rows))
