# ruff: noqa: UP006, UP035, UP045  (sent to servers as part of one file, where Python may be 3.7)
"""Which processes belong to a job on this server, and how to end them for sure (facts/transport 11.4)."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any, Callable, Dict, FrozenSet, List, NamedTuple, Optional

KILL_LIMIT_S = 10.0

Pids = Dict[int, int]  # pid → start time: a pid alone may have been given to somebody else
Fields = Dict[str, Any]
Tags = FrozenSet[bytes]


class Process(NamedTuple):
    """What /proc/PID/stat says."""

    parent: int
    state: str
    start: int
    name: str


# ── who belongs to the job ──────────────────────────────────────────────────────────────────────────────────────────


def look_at(pid: int) -> Optional[Process]:
    """Read one process; None when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")  # a name may hold blanks and parentheses
    fields = rest.split()
    return Process(int(fields[1]), fields[0], int(fields[19]), name)


def process_table() -> Dict[int, Process]:
    """Read all processes."""
    seen = ((int(p), look_at(int(p))) for p in os.listdir("/proc") if p.isdigit())  # noqa: PTH208  (one system call, no objects)
    return {pid: process for pid, process in seen if process is not None}


def carries(pid: int, tags: Tags) -> bool:
    """Tell whether a process was started with exactly these environment items."""
    try:
        return tags <= set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    except OSError:
        return False


def below(table: Dict[int, Process], root: int) -> set[int]:
    """Walk all descendants of a process."""
    children: Dict[int, List[int]] = {}
    for pid, process in table.items():
        children.setdefault(process.parent, []).append(pid)
    found: set[int] = set()
    todo = [root]
    while todo:
        new = [c for c in children.get(todo.pop(), ()) if c not in found]
        found.update(new)
        todo.extend(new)
    return found


def tags_of(name: str, job: str, folder: Path) -> Tags:
    """Return the items that mark a job's processes (or its guards); the folder tells servers of one machine apart."""
    return frozenset((f"{name}={job}".encode(), f"RANKREADY_JOB_FOLDER={folder}".encode()))


def members(tags: Tags, root: int, registry: Pids, spare: set[int], *, logs: str = "") -> Pids:
    """Descendants of ``root``, carriers of the job's tags, registered ones, and whatever any of these started.

    With ``logs`` also who writes to a file below that folder. No zombies, none of ``spare``.
    """
    table = process_table()
    found = below(table, root) if root else set()
    found |= {pid for pid in table if pid not in found and (carries(pid, tags) or writes_below(pid, logs))}
    found |= {pid for pid, start in registry.items() if pid in table and table[pid].start == start}
    for pid in tuple(found - spare):
        found |= below(table, pid)
    return {p: table[p].start for p in found if p not in spare and table[p].state not in "ZX"}


def writes_below(pid: int, folder: str) -> bool:
    """Tell whether a process's output goes to a file below this folder: what wiped its environment still has that."""
    if not folder:
        return False
    for number in ("1", "2"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{number}").startswith(folder + "/"):  # noqa: PTH115  (one call, no objects)
                return True
    return False


def send(pids: Pids, number: int) -> None:
    """Signal each process that is still the one that was seen."""
    for pid, start in pids.items():
        process = look_at(pid)
        if process is not None and process.start == start:
            with contextlib.suppress(OSError):
                os.kill(pid, number)


def end_all(find: Callable[[], Pids], grace_s: float, each_look: Callable[[], bool]) -> List[Fields]:
    """TERM, grace, then STOP, look again, KILL, until a look finds nothing; return who would not go.

    ``each_look`` reaps, and tells whether the grace is over before its time. Stopping first is what beats forkers.
    """
    send(find(), signal.SIGTERM)
    until = time.monotonic() + grace_s
    while find() and time.monotonic() < until and not each_look():
        time.sleep(0.05)
    until = time.monotonic() + KILL_LIMIT_S
    while True:
        each_look()
        seen = find()
        if not seen or time.monotonic() > until:
            return [describe(pid) for pid in sorted(seen)]
        send(seen, signal.SIGSTOP)
        send(find(), signal.SIGKILL)
        time.sleep(0.05)


def describe(pid: int) -> Fields:
    """Say what a process that would not go is doing."""
    process = look_at(pid)
    waits = ""
    with contextlib.suppress(OSError):
        waits = Path(f"/proc/{pid}/wchan").read_text(errors="replace")
    return {"pid": pid, "state": process.state if process else "", "name": process.name if process else "", "in": waits}


def alive(who: List[int]) -> bool:
    """Tell whether this very process (pid, start time) still lives."""
    process = look_at(who[0])
    return process is not None and process.start == who[1] and process.state not in "ZX"


def identity(pid: int) -> List[int]:
    """Return pid and start time."""
    process = look_at(pid)
    return [pid, process.start if process else 0]


def write(path: Path, value: Fields) -> None:
    """Write a file whole or not at all."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(json.dumps(value))
    new.replace(path)


def read(path: Path) -> Fields:
    """Read a file of ours; empty when it is not there."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def boot_id() -> str:
    """Return what changes with every boot."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""
