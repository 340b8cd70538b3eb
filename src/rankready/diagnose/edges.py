"""Waits inside operators, where they tell for whom: follow them to the end (facts/logs 9.5, step 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.diagnose.follow import circles, sinks
from rankready.diagnose.stubborn import heeded
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event, Line

PAIR = 2


def edges(case: Case) -> Blame | None:
    """Name the rank that all waits end at; two that wait for each other are a link, a larger circle is told as such."""
    waits, told = _waits(case)
    if not waits:
        return None
    lines = tuple(e.line for e in told)
    ends = sinks(waits)
    if ends and case.roster.host_of(ends[0]) in case.dark():
        return _dark(case, case.roster.host_of(ends[0]), lines, len(waits))
    if ends and ends[0] not in case.roster.by_rank:
        return _stranger(case, ends, lines, len(waits))
    if ends:
        first = ends[0]
        return Blame(
            kind="stuck" if first in case.read else "unknown",
            hosts=case.hosts_of([first]),
            ranks=(first,),
            at=case.stall,
            certainty=Certainty.MAYBE,
            lines=lines,
            fields={"pid": case.roster.pid_of(first)},
            place_known=len(ends) == 1 and first in case.read and not heeded(case, first),
            witnesses=len(waits),
        )
    ring = circles(waits)
    return Blame(
        kind="link_between" if len(ring) == PAIR else "unknown",
        hosts=case.hosts_of(ring),
        ranks=ring,
        at=case.stall,
        certainty=Certainty.MAYBE,
        lines=lines,
        fields={"sides": " ⇄ ".join(f"rank {r}" for r in ring)},
        place_known=False,
        witnesses=len(waits),
    )


def _dark(case: Case, host: str, lines: tuple[Line, ...], witnesses: int) -> Blame:
    """All waits end on a server of which nothing was read: any of its ranks may be meant."""
    return Blame(
        kind="host_silent",
        hosts=(host,),
        ranks=case.roster.on(host),
        at=case.stall,
        certainty=Certainty.MAYBE,
        lines=lines,
        witnesses=witnesses,
    )


def _stranger(case: Case, ends: tuple[int, ...], lines: tuple[Line, ...], witnesses: int) -> Blame:
    """All waits end at a rank of which not even the place is known; a server that could not be reached may have it."""
    hosts = case.collected.unreachable
    return Blame(
        kind="host_silent" if len(hosts) == 1 else "unknown",
        hosts=hosts,
        ranks=ends,
        at=case.stall,
        certainty=Certainty.MAYBE,
        lines=lines,
        place_known=len(hosts) == 1,
        witnesses=witnesses,
    )


def _waits(case: Case) -> tuple[dict[int, set[int]], tuple[Event, ...]]:
    waits: dict[int, set[int]] = {}
    told = []
    for event in case.of("wait_peer", "waited_for", "notify_wait"):
        text = event.fields.get("peers") or event.fields.get("peer") or ""
        peers = {int(p) for p in text.replace(" ", "").split(",") if p.isdecimal()}
        if text == "local" and event.rank is not None:
            peers = set()
            waits.setdefault(event.rank, set())
        if event.kind != "waited_for":
            peers = {w for p in peers if (w := case.world_rank(event, p)) is not None}
        peers = {p for p in peers if p < case.roster.size and p != event.rank}
        if event.rank is not None and peers:
            waits.setdefault(event.rank, set()).update(peers)
            told.append(event)
    return waits, tuple(told)
