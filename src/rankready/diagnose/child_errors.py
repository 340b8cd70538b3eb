"""What torchrun's children wrote of their own exception (``attempt_N/LOCAL_RANK/error.json``, facts/logs 2.3).

The file tells the same traceback as the rank's own output, and the moment, in whole seconds since the epoch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankready.diagnose.clock import Offset
    from rankready.diagnose.event import Event, Page
    from rankready.diagnose.job import End, Job

FILE = "/error.json"
FIELD = "timestamp"
CUT = "whole seconds"  # marks a moment that is cut off to these
ZONE_S = 900.0  # time zones differ by quarters of an hour
NEAR_S = 5.0
WHOLE_S = 1.0  # the moment is told in whole seconds, cut off
EARLY_S = 60.0
LONGEST = 11  # digits of seconds since the epoch
LATE_S = 60.0  # nobody writes so long after its end


def is_child_error(page: Page) -> bool:
    """Tell whether a page holds what a child wrote of its exception."""
    return page.file.endswith(FILE)


def moment_of(page: Page) -> dict[str, str]:
    """Return the moment that the file tells, as a field; nothing where it tells none."""
    name, _, digits = (page.lines[0].text if page.lines else "").partition(": ")
    digits = digits.strip('"')
    good = digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST
    return {FIELD: digits} if name == f'"{FIELD}"' and good else {}


def seated(pages: Sequence[Page], events: Sequence[Event]) -> tuple[tuple[Page, ...], tuple[Event, ...]]:
    """Give pages, and their events, of which only a local rank is known the rank that their launcher names."""
    places = {(e.host, e.number("local")): e.number("rank") for e in events if e.kind == "end_rank"}
    found = tuple(replace(p, rank=places.get((p.host, p.local))) if _only_local(p) else p for p in pages)
    ranks = {p.file: p.rank for p, before in zip(found, pages, strict=True) if p is not before}
    return found, tuple(replace(e, rank=ranks[e.line.file]) if e.line.file in ranks else e for e in events)


def _only_local(page: Page) -> bool:
    return page.rank is None and page.local is not None


def placed(
    events: Iterable[Event], job: Job, printed: Mapping[int, End], clocks: Mapping[str, Offset]
) -> tuple[Event, ...]:
    """Give each child's exception its true moment; leave out those of another run.

    Where the rank's own output shows the same exception, that line stays and takes over the moment: one witness does
    not become two. ``printed``: how ranks ended, in their hosts' printed clocks.
    """
    listed = tuple(events)
    told = [e for e in listed if FIELD in e.fields and e.line.file.endswith(FILE)]
    zones = _zones(told, printed)
    timed = [_with_moment(e, _true(e, job, zones, clocks)) for e in told]
    ours = [e for e in timed if e.rank is not None and _of_this_run(e, job, printed.get(e.rank), zones)]
    moments = {_same(e): e.at for e in reversed(ours)}
    rest = [e for e in listed if not e.line.file.endswith(FILE)]
    shown = {_same(e) for e in rest if "where" in e.fields}
    untimed = [e for e in listed if e.line.file.endswith(FILE) and FIELD not in e.fields]
    return (
        *(_with_moment(e, moments[_same(e)]) if e.at is None and _same(e) in moments else e for e in rest),
        *(e for e in (*ours, *untimed) if _same(e) not in shown),
    )


def _with_moment(event: Event, at: float | None) -> Event:
    return replace(event, at=at, fields={**event.fields, CUT: ""})


def _same(event: Event) -> tuple[str, int | None, str, str]:
    return (event.kind, event.rank, event.fields.get("type", ""), event.fields.get("where", ""))


def _zones(told: Iterable[Event], printed: Mapping[int, End]) -> dict[str, float]:
    """Host → how far its printed times are from the epoch's, where its launcher printed when one of them ended."""
    found: dict[str, float] = {}
    for event, end in _with_end(told, printed):
        if end.epoch or end.at is None:
            continue
        apart = end.at - float(event.fields[FIELD])
        zone = round(apart / ZONE_S) * ZONE_S
        if abs(apart - zone) <= NEAR_S:
            found.setdefault(event.host, zone)
    return found


def _with_end(told: Iterable[Event], printed: Mapping[int, End]) -> Iterator[tuple[Event, End]]:
    for event in told:
        if event.rank is not None and event.rank in printed:
            yield event, printed[event.rank]


def _true(event: Event, job: Job, zones: Mapping[str, float], clocks: Mapping[str, Offset]) -> float | None:
    clock = clocks.get(event.host)
    shift = clock.seconds if clock else 0.0
    moment = float(event.fields[FIELD])
    if event.host in zones:
        return moment + zones[event.host] - shift
    # an epoch has no zone: of the printed clock's shift only the part that is no whole zone applies
    return moment - (shift - round(shift / ZONE_S) * ZONE_S) if job.utc else None


def _of_this_run(event: Event, job: Job, end: End | None, zones: Mapping[str, float]) -> bool:
    """A file may be left from an earlier start: its rank ended well, or it was written before or after its time."""
    if end is not None and end.exit == 0:
        return False
    if event.at is None:
        return True
    if job.started is not None and event.at < job.started - EARLY_S:
        return False
    if end is None or end.at is None:
        return True
    own = float(event.fields[FIELD]) + (0.0 if end.epoch else zones.get(event.host, 0.0))
    known = end.epoch or event.host in zones
    return not known or own <= end.at + LATE_S
