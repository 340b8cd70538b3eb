"""`why`: from a failed job's folder to its first fault. A folder needs no cluster; it is read, never changed."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.diagnose.assemble import Bundle, assemble
from rankready.diagnose.cascade import judge
from rankready.diagnose.event import Line, Page
from rankready.diagnose.job import read_collected, read_job
from rankready.diagnose.reading import Book
from rankready.diagnose.telling import tell
from rankready.diagnose.verdict import Outcome
from rankready.model.errors import PlanError
from rankready.model.record import Record
from rankready.model.text import Text
from rankready.runs.site import now_utc
from rankready.runs.unpack import unpack
from rankready.runs.why_checks import listeners, ports, switches
from rankready.runs.why_folder import hosts, others, read_json, sources
from rankready.runs.why_left_out import closed, witnesses
from rankready.runs.why_select import number_at, select
from rankready.runs.why_selected import selected
from rankready.runs.why_sieves import catalogue, sieve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankready.diagnose.job import Job
    from rankready.runs.why_folder import Source
    from rankready.runs.why_select import Selected

ALONE = 48 << 20  # bytes up to which one process is faster than several
MOST_WORKERS = 16
ARCHIVE_LIMIT = 8 << 30
MOST_REFUSED = 20


async def why_path(path: Path, say: Callable[[Text], None]) -> Record:
    """Read a folder, or an archive of one; raises PlanError for what is neither."""
    with tempfile.TemporaryDirectory(prefix="rankready-why-") as scratch:
        return await why(await asyncio.to_thread(_opened, path, Path(scratch), say))


def _opened(path: Path, into: Path, say: Callable[[Text], None]) -> Path:
    """Return the folder to read: the path itself, or what its archive holds, below one folder or several."""
    if path.is_dir():
        return path
    done = unpack(path, into, limit=ARCHIVE_LIMIT)
    if not done.files:
        raise PlanError(f"{path}: neither a folder nor a tar of one")
    for name, reason in done.refused[:MOST_REFUSED]:
        say(Text(en=f"not unpacked: {name}: {reason}", zh=f"未解包：{name}：{reason}"))
    inside = list(into.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() and hosts(inside[0]) else into


async def why(folder: Path, *, cluster: str = "") -> Record:
    """Read one folder and name the first fault.

    Exit 0: nothing went wrong, and every rank was read; 1: a fault was found; 3: not known, or ranks were not read.
    """
    started, since = now_utc(), time.monotonic()
    extra = await asyncio.to_thread(explain_folder, folder)
    return Record(
        verb="why",
        cluster=cluster,
        started=started,
        seconds=time.monotonic() - since,
        exit=exit_of(extra),
        servers=len({row["server"] for row in extra["timeline"]}),
        devices=len(extra["timeline"]),
        extra=extra,
    )


def exit_of(extra: dict[str, Any]) -> int:
    """Return the exit code of an answer."""
    match extra["outcome"]:
        case Outcome.CAUSE.value | Outcome.SUSPECT.value:
            return 1
        case Outcome.NONE.value if not any("no log" in n or "not reachable" in n for n in extra["not_checked"]):
            return 0
    return 3


def explain_folder(folder: Path) -> dict[str, Any]:
    """Return the answer for one folder, as `why` keeps it in its record."""
    known = catalogue()
    case = assemble(bundle(folder), Book.of(known.signatures))
    told = tell(case, judge(case, known.faults), known.faults)
    for piece in told["evidence"]:
        piece["line"] = piece["line"] or number_at(folder / piece["file"], piece["offset"])
        del piece["offset"]
    return {"folder": str(folder), **told}


def bundle(folder: Path) -> Bundle:
    """Read a folder into values."""
    result = read_json(folder / "result.json")
    job = read_job(read_json(folder / "job.json"), result)
    found = sources(folder)
    read = read_all(found)
    kept, gaps = witnesses([*zip(found, read, strict=True), *selected(folder)])
    gaps += closed(folder, hosts(folder))
    collected = read_collected(read_json(folder / "collect.json"))
    files = others(folder)
    stopped = isinstance(result, dict) and result.get("cause") in ("interrupted", "stopped")
    return Bundle(
        job=job,
        collected=replace(collected, gaps=(*collected.gaps, *gaps)),
        pages=tuple(_page(s, r, job) for s, r in kept),
        ports=tuple(ports(files, folder)),
        listeners=tuple(listeners(files, folder)),
        switches=tuple(switches(files, folder)),
        kinds={c.code: c.kind for c in catalogue().codes.values()},
        stopped_by_hand=stopped,
    )


def read_all(found: Sequence[Source]) -> list[Selected]:
    """Select from every file; large collections with several processes, one file each at a time."""
    total = sum(_size(s.path) for s in found)
    workers = min(os.cpu_count() or 1, MOST_WORKERS)
    plans = [(s.path, sieve(s)) for s in found]
    if total <= ALONE or workers == 1:
        return [select(path, plan) for path, plan in plans]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:  # forked threads may hold locks
        return list(pool.map(select, *zip(*plans, strict=True), chunksize=4))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _page(source: Source, selected: Selected, job: Job) -> Page:
    rank = source.rank
    if rank is None and source.local is not None:
        rank = next((p.rank for p in job.processes if (p.host, p.local_rank) == (source.host, source.local)), None)
    return Page(
        file=source.file,
        host=source.host,
        stream=source.stream,
        lines=tuple(Line(file=source.file, number=n, text=t, offset=o) for o, n, t in selected.lines),
        pid=source.pid,
        rank=rank,
        local=source.local,
        device=source.device,
        stamp=source.stamp,
        size=selected.size,
        notes=selected.notes,
    )
