"""Links between devices that did not come about: follow who waited for whom (facts/logs 9.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.diagnose.follow import circles, sinks
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event


def links(case: Case) -> Blame | None:
    """Name the rank at the end of all waits; where they go round, or end on servers that were not read, say so."""
    failed = case.of("socket_wait", "link_row")
    if not failed:
        return None
    waits, lines = _waits(case)
    began = min((e.at for e in failed if e.at is not None), default=None)
    at = None if began is None else began - case.connect_s
    told = tuple(e.line for e in lines) or tuple(e.line for e in failed)
    late = _late(case, failed)
    if late is not None:
        return late
    ends = sinks(waits)
    if not ends:
        ring = circles(waits)
        places = ring or tuple(sorted({e.rank for e in failed if e.rank is not None}))
        return Blame(
            kind="link_between" if len(places) == 2 else "unknown",  # noqa: PLR2004  (a pair)
            hosts=case.hosts_of(places),
            ranks=places,
            at=at,
            certainty=Certainty.MAYBE,
            lines=told,
            codes=("EI0006",),
            fields={"sides": " ⇄ ".join(f"rank {r}" for r in places)},
            place_known=False,
            witnesses=len(waits),
        )
    hosts = case.hosts_of(ends)
    dark = all(r not in case.read for r in ends)
    return Blame(
        kind="host_silent" if dark else "stuck",
        hosts=hosts,
        ranks=ends if len(hosts) == 1 or len(ends) == 1 else tuple(sorted(ends)),
        at=at,
        certainty=Certainty.MAYBE,
        lines=told,
        codes=("EI0006",),
        fields={"pid": case.roster.pid_of(ends[0])},
        place_known=len(ends) == 1 or (len(hosts) == 1 and dark),
        witnesses=len(waits),
    )


def _waits(case: Case) -> tuple[dict[int, set[int]], tuple[Event, ...]]:
    """Waiter → whom it waited for; what the link detector says stands above a plain attempt."""
    waits: dict[int, set[int]] = {}
    detected = case.of("link_detected")
    for event in detected:
        waiter = case.roster.at(event.fields["here"], event.number("device"))
        for device in event.fields["peers"].replace(" ", "").split(","):
            peer = case.roster.at(event.fields["there"], int(device)) if device.isdecimal() else None
            if waiter is not None and peer is not None:
                waits.setdefault(waiter, set()).add(peer)
    if waits:
        return waits, detected
    edges = case.of("link_edge", "link_row")
    for event in edges:
        own = event.number("own")
        waiter = own if own is not None and own in case.roster.by_rank else event.rank
        peer = event.number("peer")
        if waiter is not None and peer is not None and peer in case.roster.by_rank and peer != waiter:
            waits.setdefault(waiter, set()).add(peer)
    return waits, edges


def _late(case: Case, failed: tuple[Event, ...]) -> Blame | None:
    """Reports that lie further apart than the timeout: the later ones began when the others had given up."""
    moments: dict[int, Event] = {}
    for event in failed:
        if event.rank is not None and event.at is not None:
            moments.setdefault(event.rank, event)
    if len(moments) < 2 or len(moments) < len(case.roster.ranks):  # noqa: PLR2004  (somebody must be compared)
        return None
    times = {r: e.at for r, e in moments.items() if e.at is not None}
    first = min(times.values())
    late = tuple(sorted(r for r, t in times.items() if t - first > case.connect_s))
    if not late or len(late) > len(times) / 2:
        return None
    return Blame(
        kind="late_start",
        hosts=case.hosts_of(late),
        ranks=late,
        at=first,
        certainty=Certainty.LIKELY,
        lines=(moments[late[0]].line, next(e.line for e in failed if e.at == first)),
        codes=("EI0006",),
        fields={"late": f"{min(times[r] for r in late) - first:.0f}", "limit": f"{case.connect_s:.0f}"},
        witnesses=len(times),
    )
