"""Asks the kernel which ports it lends to outgoing connections, and which it leaves alone (facts/launch 4, 8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import LocalPorts
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.command import Reply

_SHELL = r"""cd /proc/sys/net/ipv4 || exit 3
printf 'range=%s\n' "$(cat ip_local_port_range)"
printf 'reserved=%s\n' "$(cat ip_local_reserved_ports)"
"""
_ROWS = re.compile(r"range=(\d{1,5})\s+(\d{1,5})\nreserved=([0-9,-]*)", re.ASCII)
_SPAN = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?", re.ASCII)


def read(reply: Reply) -> LocalPorts | Gap:
    """Read the range and the list of spans; an empty list reserves nothing."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0 or reply.stderr.strip():
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    found = _ROWS.fullmatch("\n".join(said))
    spans = [_SPAN.fullmatch(part) for part in found[3].split(",") if part] if found else []
    if found is None or None in spans:
        return unexpected(said)
    reserved = tuple((int(s[1]), int(s[2] or s[1])) for s in spans if s is not None)
    return cut(reply.stdout) or LocalPorts(first=int(found[1]), last=int(found[2]), reserved=reserved)


_RESERVE = 'printf "%s\\n" "$1" >/proc/sys/net/ipv4/ip_local_reserved_ports'


def reserve(spans: Sequence[tuple[int, int]]) -> Command:
    """Make these spans the reserved ones, until the next boot; the kernel joins those that touch."""
    told = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
    return Command(argv=(told, "net.ipv4.ip_local_reserved_ports"), shell=_RESERVE, timeout_s=15.0)


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=LocalPorts,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("sysctl net.ipv4.ip_local_port_range ...",), shell=_SHELL),
        read=lambda reply, _place: read(reply),
    ),
)
