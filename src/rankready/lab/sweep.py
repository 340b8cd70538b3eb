"""Find and end processes, by pid with start time, by descent, by an exact tag in their environment."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable

PROC = Path("/proc")
_LOOK_S = 0.05
TAG = "LAB_ID"
_ALL_S = 10.0


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """One process, safe against reuse of its pid: ``started`` is field 22 of its stat (clock ticks since boot)."""

    pid: int
    started: int


@dataclass(frozen=True, slots=True)
class _Stat:
    process: Process
    parent: int
    state: str


def find(pid: int) -> Process | None:
    """Return the process with this pid, or None when there is none that lives."""
    stat = _stat(pid)
    return None if stat is None or stat.state in "ZX" else stat.process


def alive(process: Process) -> bool:
    """Tell whether that very process still lives. A zombie does not."""
    return find(process.pid) == process


def below(pid: int) -> set[Process]:
    """Every living descendant of a process, and the process itself."""
    stats = {s.process.pid: s for s in _all()}
    found: set[Process] = set()
    for stat in stats.values():
        if stat.state not in "ZX" and _descends(stat, pid, stats):
            found.add(stat.process)
    return found


def inhabitants(pid: int) -> set[Process]:
    """Every living process of the pid namespace in which this process is, whoever started it there."""
    wanted = _pid_namespace(pid)
    found = set()
    for stat in _all():
        if stat.state not in "ZX" and wanted and _pid_namespace(stat.process.pid) == wanted:
            found.add(stat.process)
    return found


def holders(processes: set[Process]) -> set[Process]:
    """The living parents of these that are not among them: whoever must reap them."""
    pids = {p.pid for p in processes}
    parents = {stat.parent for p in processes if (stat := _stat(p.pid)) is not None} - pids
    return {found for pid in parents if (found := find(pid)) is not None}


def tagged(lab: str, *more: str) -> set[Process]:
    """Every living process that carries this lab's tag, and ``more`` (``KEY=value``), as items of its environment."""
    items = {item.encode() for item in (f"{TAG}={lab}", *more)}
    found = set()
    for stat in _all():
        with suppress(OSError):
            environment = (PROC / str(stat.process.pid) / "environ").read_bytes()
            if stat.state not in "ZX" and items <= set(environment.split(b"\0")):
                found.add(stat.process)
    return found


def send(processes: Iterable[Process], number: signal.Signals) -> None:
    """Signal each process that is still the one meant."""
    for process in processes:
        with suppress(ProcessLookupError):
            if alive(process):
                os.kill(process.pid, number)


def end_tagged(lab: str, *, but: frozenset[int] = frozenset()) -> None:
    """Stop all tagged processes, then kill them, until a look finds none: stopping first beats forkers."""
    limit = time.monotonic() + _ALL_S
    while time.monotonic() < limit:
        found = {p for p in tagged(lab) | (below(os.getpid()) if but else set()) if p.pid not in but}
        if not found:
            return
        send(found, signal.SIGSTOP)
        send(found, signal.SIGKILL)
        time.sleep(_LOOK_S)


def wait_gone(processes: set[Process], seconds: float = _ALL_S) -> None:
    """Wait until none of them lives. Raises LabError with those that stay."""
    limit = time.monotonic() + seconds
    while left := {p for p in processes if alive(p)}:
        if time.monotonic() > limit:
            raise LabError(f"still alive after {seconds:g} s: {', '.join(str(p.pid) for p in sorted(left))}")
        time.sleep(_LOOK_S)


def _pid_namespace(pid: int) -> str:
    try:
        return str((PROC / str(pid) / "ns/pid").readlink())
    except OSError:
        return ""


def _descends(stat: _Stat, pid: int, stats: dict[int, _Stat]) -> bool:
    step: _Stat | None = stat
    while step is not None:
        if step.process.pid == pid:
            return True
        step = stats.get(step.parent)
    return False


def _all() -> list[_Stat]:
    pids = [int(p.name) for p in PROC.iterdir() if p.name.isdecimal()] if PROC.is_dir() else []
    return [stat for pid in pids if (stat := _stat(pid)) is not None]


def _stat(pid: int) -> _Stat | None:
    """Read after the last parenthesis: a process may call itself anything."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return _Stat(Process(pid, int(fields[19])), int(fields[1]), fields[0])
