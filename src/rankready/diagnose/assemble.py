"""From pages to a case: leave out what is another job's, correct the clocks, leave out what is harmless."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from rankready.diagnose.case import Case, order
from rankready.diagnose.child_errors import placed, seated
from rankready.diagnose.clock import Witness, goes_back, offsets
from rankready.diagnose.device import RESUMED
from rankready.diagnose.ends import ends
from rankready.diagnose.harmless import without_harmless
from rankready.diagnose.headers import header
from rankready.diagnose.reading import read
from rankready.diagnose.roster import roster, unknown_ranks
from rankready.diagnose.stamps import file_stamp, stamp, whole, year_of
from rankready.diagnose.starts import chosen_start, next_start
from rankready.kind.signature import Stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankready.diagnose.case import Listener, Port, Switch
    from rankready.diagnose.clock import Offset
    from rankready.diagnose.event import Event, Page
    from rankready.diagnose.job import Collected, End, Job
    from rankready.diagnose.reading import Book
    from rankready.diagnose.roster import Roster

DAY_PART_S = 15 * 3600.0  # no zone and no wrong clock moves a log further than this from its job's start
SAME_START_S = 900.0
BEFORE_S = 60.0
AFTER_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """All that was collected of one job, as values."""

    job: Job
    collected: Collected
    pages: tuple[Page, ...]
    ports: tuple[Port, ...] = ()
    listeners: tuple[Listener, ...] = ()
    switches: tuple[Switch, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    stopped_by_hand: bool = False


def assemble(bundle: Bundle, book: Book) -> Case:
    """Make the case of a bundle."""
    job = bundle.job
    pages = _own_pages(bundle.pages, job)
    raw = read(pages, book, year_of(job.started or _any_moment(pages)))
    pages, raw = seated(pages, raw)
    told: tuple[Event | Page, ...] = (*raw, *pages)
    people = unknown_ranks(roster(job, raw), (x for x in told if x.stream is Stream.OUTPUT))
    workers = {(e.host, e.number("pid")): e.rank for e in raw if e.kind == "worker"}
    raw = tuple(_named(e, people, workers) for e in raw)
    pages = tuple(p for p in pages if _known(p, people))
    counted = frozenset(people.host_of(end.rank) for end in job.ends if end.oom)
    raw = tuple(e for e in raw if _ours(e, people, counted))
    clocks = offsets(_witnesses(job, bundle.collected, people, (pages, raw)), job.started, utc=job.utc)
    printed = ends(job.ends, raw, people)
    events = placed((_corrected(e, clocks) for e in raw), job, printed, clocks)
    finished = {r: _true_end(e, people, clocks, utc=job.utc) for r, e in printed.items()}
    events = _in_time(events, job, finished)
    return Case(
        job=job,
        roster=people,
        events=tuple(sorted(without_harmless(events), key=order)),
        ends=finished,
        clocks=clocks,
        collected=bundle.collected,
        ports=tuple(_port_in_time(p, clocks) for p in bundle.ports),
        listeners=bundle.listeners,
        switches=bundle.switches,
        read=frozenset(r for p in pages if (r := _rank_of(p, people)) is not None),
        heard=frozenset(r for p in pages if _would_report(p) and (r := _rank_of(p, people)) is not None),
        seen_hosts=frozenset(p.host for p in bundle.pages),
        ascend_read=frozenset(p.host for p in pages if p.stream is Stream.HOST),
        kernel_read=frozenset(p.host for p in bundle.pages if p.stream is Stream.KERNEL),
        began=_starts(pages, people, clocks, newest=False),
        log_from=_starts(tuple(p for p in pages if "/debug/" in f"/{p.file}"), people, clocks, newest=False),
        kinds=bundle.kinds,
        stopped_by_hand=bundle.stopped_by_hand,
        set_back=_set_back(pages, raw),
    )


def _own_pages(pages: Sequence[Page], job: Job) -> tuple[Page, ...]:
    """Leave out Ascend logs of processes that are not this job's, or of another day."""
    pids = {(p.host, p.pid) for p in job.processes if p.pid is not None}
    listed = {p.host for p in job.processes}
    whole_record = bool(pids) and all(p.pid is not None for p in job.processes)
    mine = [
        p
        for p in pages
        if (p.host in listed or not listed)
        and (p.stream is not Stream.HOST or p.pid is None or not whole_record or (p.host, p.pid) in pids)
    ]
    starts = _host_starts(mine, job)
    nexts = _next_starts(mine, job, starts)
    return tuple(p for p in mine if _same_job(p, starts) and not _of_a_later_job(p, nexts))


def _host_starts(pages: Sequence[Page], job: Job) -> dict[str, float]:
    """Host → printed moment at which its processes of this job began: the usual one of its logs' names."""
    stamps: dict[str, dict[int | None, list[float]]] = {}
    for page in pages:
        moment = file_stamp(page.stamp)
        if moment is None or (job.started is not None and moment < job.started - DAY_PART_S):
            continue
        stamps.setdefault(page.host, {}).setdefault(page.pid, []).append(moment)
    return {host: chosen_start(tuple(found.values()), _expected(host, job)) for host, found in stamps.items()}


def _next_starts(pages: Sequence[Page], job: Job, starts: Mapping[str, float]) -> dict[str, float]:
    """Host → when processes with the numbers of this job's began once more, where its own start is known."""
    kinds: dict[str, dict[int | None, list[tuple[float, str]]]] = {}
    for page in pages:
        moment = file_stamp(page.stamp)
        if moment is not None and _expected(page.host, job) is not None:
            part = "run" if "/run/" in page.file else "debug"
            kinds.setdefault(page.host, {}).setdefault(page.pid, []).append((moment, part))
    found = {h: next_start(tuple(k.values()), starts[h]) for h, k in kinds.items() if h in starts}
    return {h: moment for h, moment in found.items() if moment is not None}


def _of_a_later_job(page: Page, nexts: Mapping[str, float]) -> bool:
    moment = file_stamp(page.stamp)
    return moment is not None and page.host in nexts and moment >= nexts[page.host]


def _expected(host: str, job: Job) -> float | None:
    """What a host's clock printed when the job began; None where its zone is not known."""
    return None if job.started is None or job.utc else job.started + (job.offsets.get(host) or 0.0)


def _same_job(page: Page, starts: Mapping[str, float]) -> bool:
    moment = file_stamp(page.stamp)
    start = starts.get(page.host)
    return moment is None or start is None or moment >= start - SAME_START_S


def _set_back(pages: Iterable[Page], events: Iterable[Event]) -> frozenset[str]:
    """Hosts whose clock went back within one file: an Ascend log, or the steps that a rank printed."""
    steps: dict[tuple[str, str], list[float]] = {}
    for event in events:
        if event.kind == "progress" and event.at is not None:
            steps.setdefault((event.host, event.line.file), []).append(event.at)
    logs = (p for p in pages if p.stream is Stream.HOST)
    return frozenset(h for (h, _), moments in steps.items() if goes_back(moments)) | frozenset(
        p.host for p in logs if goes_back(_moments(p))
    )


def _moments(page: Page) -> list[float]:
    heads = (header(line.text) for line in page.lines)
    return [m for head in heads if head is not None and (m := stamp(head.moment, 1970)) is not None]


def _any_moment(pages: Sequence[Page]) -> float | None:
    return next((m for p in pages if (m := file_stamp(p.stamp)) is not None), None)


def _named(event: Event, people: Roster, workers: Mapping[tuple[str, int | None], int | None]) -> Event:
    """Say whose event it is: by process, by rank of the file, by the kernel's pid, by device."""
    if event.rank is not None:
        return event
    rank = people.of_pid(event.host, event.pid)
    if rank is None and event.stream is Stream.KERNEL:
        rank = people.of_kernel(event.host, event.number("pid"))
    if rank is None and event.stream is Stream.KERNEL:
        rank = workers.get((event.host, event.number("pid")))
    device = event.number("device") if event.stream in (Stream.KERNEL, Stream.DEVICE) else None
    if device is None:
        device = event.device
    if rank is None and event.stream in (Stream.KERNEL, Stream.DEVICE):
        rank = people.at(event.host, device)
    return replace(event, rank=rank, device=device)


def _known(page: Page, people: Roster) -> bool:
    return page.stream is not Stream.HOST or page.pid is None or people.of_pid(page.host, page.pid) is not None


def _ours(event: Event, people: Roster, counted: frozenset[str]) -> bool:
    if event.stream is Stream.HOST:
        return event.rank is not None
    if event.kind == "host_oom_kill" and event.host in counted:
        return True  # a guard counted it: the machine's own number of the process may be another
    if event.kind in ("device_event", "host_oom_kill", "oom_context", "stuck_io", "crashed"):
        return event.rank is not None or (event.kind == "device_event" and not people.by_place)
    return not people.by_rank or event.host in people.names


def _witnesses(
    job: Job, collected: Collected, people: Roster, seen: tuple[Sequence[Page], Iterable[Event]]
) -> dict[str, Witness]:
    pages, events = seen
    ready: dict[str, list[float]] = {}
    for event in events:
        size = event.number("size")
        if event.kind == "ready" and event.at is not None and size in (None, people.size):
            ready.setdefault(event.host, []).append(event.at)
    began = _first_stamps(pages)
    found = {}
    for host in people.names:
        measured = job.offsets.get(host)
        if measured is None:
            measured = collected.offsets.get(host)
        moments = ready.get(host)
        found[host] = Witness(measured=measured, ready=median(moments) if moments else None, began=began.get(host))
    return found


def _first_stamps(pages: Sequence[Page]) -> dict[str, float]:
    found: dict[str, float] = {}
    for page in pages:
        moment = file_stamp(page.stamp)
        if moment is not None and page.stream is Stream.HOST:
            found[page.host] = min(moment, found.get(page.host, moment))
    return found


def _corrected(event: Event, clocks: Mapping[str, Offset]) -> Event:
    shift = clocks[event.host].seconds if event.host in clocks else 0.0
    fields = event.fields
    for name in ("issued", "arrival"):
        if (moment := whole(fields.get(name) or "")) is not None:
            fields = {**fields, f"{name}_at": str(moment - shift)}
    return replace(event, at=None if event.at is None else event.at - shift, fields=fields)


def _true_end(end: End, people: Roster, clocks: Mapping[str, Offset], *, utc: bool) -> End:
    clock = clocks.get(people.host_of(end.rank))
    if end.at is None or clock is None:
        return end
    if not end.epoch:
        return replace(end, at=end.at - clock.seconds)
    # an epoch has no zone: of the printed clock's shift only the part that is no whole zone applies
    return replace(end, at=end.at - (clock.seconds - round(clock.seconds / 900.0) * 900.0 if utc else 0.0))


def _in_time(events: Sequence[Event], job: Job, finished: Mapping[int, End]) -> tuple[Event, ...]:
    """Leave out what the system or a device said long before or after the job, or was mended when it began."""
    spoken = [e.at for e in events if e.at is not None and e.stream in (Stream.HOST, Stream.OUTPUT)]
    spoken += [e.at for e in finished.values() if e.at is not None and not (e.epoch and not job.utc)]
    begin = job.started if job.started is not None else min(spoken, default=None)
    end = max(spoken, default=None)
    kept = []
    mended = _mended(events, begin)
    for event in events:
        if _fault_key(event) in mended and event.at is not None and event.at <= mended[_fault_key(event)]:
            continue
        outside = event.at is not None and (
            (begin is not None and event.at < begin - BEFORE_S) or (end is not None and event.at > end + AFTER_S)
        )
        if not (outside and event.stream in (Stream.KERNEL, Stream.DEVICE)):
            kept.append(event)
    return tuple(kept)


def _fault_key(event: Event) -> tuple[str, int | None, str]:
    return (event.host, event.rank, event.fields.get("event", ""))


def _mended(events: Sequence[Event], begin: float | None) -> dict[tuple[str, int | None, str], float]:
    """Device faults that were over before the job began, each with the moment of its end: some other job's trouble."""
    ends = (e for e in events if e.kind == "device_event" and e.fields.get("assertion") == RESUMED)
    return {_fault_key(e): e.at for e in ends if e.at is not None and begin is not None and e.at <= begin}


def _port_in_time(port: Port, clocks: Mapping[str, Offset]) -> Port:
    shift = clocks[port.host].seconds if port.host in clocks else 0.0
    return replace(port, changes=tuple((moment - shift, up) for moment, up in port.changes))


def _would_report(page: Page) -> bool:
    return page.stream is Stream.OUTPUT or (page.stream is Stream.HOST and "/run/" not in f"/{page.file}")


def _rank_of(page: Page, people: Roster) -> int | None:
    if page.stream is Stream.OUTPUT:
        return page.rank
    return people.of_pid(page.host, page.pid) if page.stream is Stream.HOST else None


def _starts(pages: Sequence[Page], people: Roster, clocks: Mapping[str, Offset], *, newest: bool) -> dict[int, float]:
    """Rank → true moment of the oldest of some of its logs."""
    found: dict[int, float] = {}
    for page in pages:
        rank, moment = _rank_of(page, people), file_stamp(page.stamp)
        if rank is None or moment is None:
            continue
        true = moment - (clocks[page.host].seconds if page.host in clocks else 0.0)
        found[rank] = true if rank not in found else (max if newest else min)(true, found[rank])
    return found
