# ruff: noqa: UP006, UP035, TC001  (sent to servers as part of one file, where Python may be 3.7)
"""Which ranks hold a connection to the job's master port: those that came as far as joining the process group.

Nothing of the job's own is asked: sockets and processes are seen in /proc. Rank 0 may only listen there (torch's
store connects to itself as well). Who closes its connection at once may never be seen.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Callable, Dict, List, Set

from rankready.runs.data.kin import Fields, Pids

EVERY_S = 0.25
AGAIN_S = 1.0  # a socket may be seen before the process that holds it is known to be of the job
LIMIT_S = 3600.0
RANK_NAMES = (b"RANK=", b"RANK_ID=")  # torchrun's contract, and msrun's (facts/launch 5.2)
ESTABLISHED, LISTEN = "01", "0A"


class Reached:
    """Looks now and then, until every rank of this server was seen."""

    def __init__(self, port: int, count: int, tables: Path = Path("/proc/net")) -> None:
        self.port, self.count, self.tables = port, count, tables
        self.first: Dict[int, float] = {}
        self.held: Set[int] = set()
        self.inodes: Set[str] = set()
        self.born = self.looked = self.asked = time.monotonic()

    def look(self, members: Callable[[], Pids]) -> List[Fields]:
        """Return one event where something changed: who holds a connection now, and when each was first seen."""
        now = time.monotonic()
        over = not self.port or len(self.held) >= self.count or now - self.born > LIMIT_S
        if over or now - self.looked < EVERY_S:
            return []
        self.looked = now
        inodes = joined(self.port, self.tables)
        if inodes == self.inodes and now - self.asked < AGAIN_S:
            return []
        self.asked = now
        held = {rank for pid in (members() if inodes else ()) for rank in ranks_of(pid, inodes)}
        self.inodes = inodes
        if held == self.held:
            return []
        self.held = held
        for rank in held:
            self.first.setdefault(rank, time.time())
        return [{"event": "reached", "held": sorted(held), "first": {str(r): at for r, at in self.first.items()}}]


def joined(port: int, tables: Path) -> Set[str]:
    """Return the inodes of sockets that are connected to a TCP port, or listen on it."""
    found = set()
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in (tables / name).read_text().splitlines()[1:]:
                fields = line.split()
                ends = {ESTABLISHED: fields[2], LISTEN: fields[1]}
                if fields[3] in ends and int(ends[fields[3]].rpartition(":")[2], 16) == port:
                    found.add(f"socket:[{fields[9]}]")
    return found


def ranks_of(pid: int, inodes: Set[str]) -> Set[int]:
    """Return the rank that a process is, where it holds one of these sockets."""
    with contextlib.suppress(OSError, ValueError):
        for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208  (one system call, no objects)
            if os.readlink(f"/proc/{pid}/fd/{name}") in inodes:  # noqa: PTH115  (the same)
                return rank_in(Path(f"/proc/{pid}/environ").read_bytes())
    return set()


def rank_in(environ: bytes) -> Set[int]:
    """Read the rank of an environment; none for an agent, which stands for several."""
    for item in environ.split(b"\0"):
        for name in RANK_NAMES:
            if item.startswith(name) and item[len(name) :].isdigit():
                return {int(item[len(name) :])}
    return set()
