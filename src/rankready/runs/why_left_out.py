"""Which files of a folder are no witnesses, and why: what can't be read, and what an earlier try of the job left."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from rankready.runs.why_folder import Source
    from rankready.runs.why_select import Selected

UNREADABLE = "not readable"
RECORDS = ("job.json", "result.json", "collect.json")
MOST_TOLD = 20  # of one server
_TRY = re.compile(r"(?P<runs>.*/|)(?P<run>[^/]+)/attempt_(?P<number>\d{1,9})/\d+/[^/]+")

Read = tuple["Source", "Selected"]
Gap = tuple[str, str]


def witnesses(found: Sequence[Read]) -> tuple[list[Read], list[Gap]]:
    """Return the files that count, and (server, what was left out and why) for the others and for parts of these."""
    kept, tries = _last_tries(found)
    gaps = [(s.host, f"{_inside(s)}: {note}") for s, r in kept for note in r.notes]
    return [(s, r) for s, r in kept if not any(n.startswith(UNREADABLE) for n in r.notes)], tries + _few(gaps)


def closed(folder: Path, hosts: Iterable[str]) -> list[Gap]:
    """List the folders of servers, and the launcher's own records, that this user may not look into."""
    found = [(n, UNREADABLE) for n in RECORDS if (folder / n).exists() and not os.access(folder / n, os.R_OK)]
    for host in hosts:
        for here, folders, _ in os.walk(folder / host):
            shut = [f for f in folders if not os.access(os.path.join(here, f), os.R_OK | os.X_OK)]  # noqa: PTH118  (of walk)
            found += [(host, f"{os.path.relpath(os.path.join(here, f), folder / host)}: {UNREADABLE}") for f in shut]  # noqa: PTH118  (the same)
            folders[:] = [f for f in folders if f not in shut]
        if not os.access(folder / host, os.R_OK | os.X_OK):
            found.append((host, f"everything: {UNREADABLE}"))
    return _few(found)


def _inside(source: Source) -> str:
    return source.file.removeprefix(f"{source.host}/")


def _few(gaps: Sequence[Gap]) -> list[Gap]:
    by_host: dict[str, list[str]] = defaultdict(list)
    for host, what in gaps:
        by_host[host].append(what)
    told = [(h, what) for h, listed in by_host.items() for what in listed[:MOST_TOLD]]
    more = [(h, f"{len(w) - MOST_TOLD} more files not whole") for h, w in by_host.items() if len(w) > MOST_TOLD]
    return told + more


def _last_tries(found: Sequence[Read]) -> tuple[list[Read], list[Gap]]:
    """Keep of torchrun's log folders each server's last attempt; of several runs nothing tells which is this job's."""
    tries: dict[str, tuple[tuple[str, str], str, int]] = {}
    for source, _ in found:
        if match := _TRY.fullmatch(source.file):
            tries[source.file] = ((source.host, match["runs"]), match["run"], int(match["number"]))
    runs: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for where, run, number in tries.values():
        runs[where][run] = max(number, runs[where].get(run, 0))
    kept: list[Read] = []
    gaps: dict[Gap, None] = {}
    for source, read in found:
        reason = _stale(tries.get(source.file), runs)
        if reason:
            gaps[(source.host, f"{_inside(source).rpartition('/attempt_')[0]}: {reason}")] = None
        else:
            kept.append((source, read))
    return kept, list(gaps)


def _stale(told: tuple[tuple[str, str], str, int] | None, runs: dict[tuple[str, str], dict[str, int]]) -> str:
    if told is None:
        return ""
    where, run, number = told
    if len(runs[where]) > 1:
        return "one of several runs' folders; left out, for nothing tells which is this job's"
    return f"attempt_{number} left out: a later attempt followed" if number < runs[where][run] else ""
