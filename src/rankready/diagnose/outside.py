"""What the server itself tells about a fault that a rank reports: the port that fell, the process that listens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.diagnose.device import span

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Line

SAME = 60  # characters at the end of a line; the kernel's log often stands in two files


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """More lines for a fault, and what they add to its texts."""

    lines: tuple[Line, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def outside(case: Case, rank: int, kind: str, told: Mapping[str, str]) -> Outside:
    """Return what else is known of one rank's fault."""
    match kind:
        case "link_down":
            return Outside(lines=_port(case, rank), fields={"span": span(case, rank)})
        case "port_in_use" | "process_left_over":
            return _owner(case, rank, told)
    return Outside()


def _port(case: Case, rank: int) -> tuple[Line, ...]:
    process = case.roster.by_rank[rank]
    return tuple(p.line for p in case.ports if (p.host, p.device) == (process.host, process.device) and p.downs)


def _owner(case: Case, rank: int, told: Mapping[str, str]) -> Outside:
    """Who listens on the port, when it is no process of this job."""
    host, port = case.roster.host_of(rank), told.get("port") or ""
    for found in case.listeners:
        ours = case.roster.of_kernel(host, found.pid) is not None
        if found.host == host and str(found.port) == port and not ours:
            return Outside(lines=(found.line,), fields={"owner": f" (pid {found.pid})"})
    return Outside()


def distinct(lines: Iterable[Line]) -> list[Line]:
    """Leave out lines that say the same as an earlier one."""
    seen: set[str] = set()
    kept = []
    for line in lines:
        end = line.text.strip()[-SAME:]
        if end not in seen:
            seen.add(end)
            kept.append(line)
    return kept
