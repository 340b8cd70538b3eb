# ruff: noqa: UP006, UP035, UP045  (sent to servers as part of one file, where Python may be 3.7)
"""How often the kernel killed for lack of memory: its own counts, which need no right to read its log."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Dict, List, Optional, Tuple

EVERY_S = 1.0
WINDOW_S = 10.0  # an agent like torchrun ends seconds after the rank that was killed

Counts = Dict[str, int]  # "server": since it was booted; "group": in the job's own control group


class Kills:
    """Remembers the counts of the last seconds, so that a rank's end can be told from a kill just before it."""

    def __init__(self, server: Path = Path("/proc/vmstat"), group: Optional[Path] = None) -> None:
        self.files = {"server": server, "group": own_group() if group is None else group}
        self.seen: List[Tuple[float, Counts]] = []
        self.look()

    def look(self) -> None:
        """Take note of the counts, at most once in a while."""
        now = time.monotonic()
        if self.seen and now - self.seen[-1][0] < EVERY_S:
            return
        self.seen.append((now, self.counts()))
        while len(self.seen) > 1 and now - self.seen[0][0] > WINDOW_S:
            del self.seen[0]

    def lately(self) -> Counts:
        """Return by how much each known count rose in the last seconds."""
        before = self.seen[0][1]
        return {name: count - before[name] for name, count in self.counts().items() if name in before}

    def counts(self) -> Counts:
        """Read every count that this kernel keeps."""
        found = ((name, count_in(file)) for name, file in self.files.items() if file is not None)
        return {name: count for name, count in found if count is not None}


def count_in(file: Path) -> Optional[int]:
    """Read the line ``oom_kill N``, which vmstat, memory.events and memory.oom_control have since Linux 4.13."""
    with contextlib.suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "oom_kill":
                return int(value)
    return None


def own_group() -> Optional[Path]:
    """Find the file that counts kills in our own control group, of either hierarchy; None where it does not show."""
    with contextlib.suppress(OSError, ValueError):
        paths = dict(own_paths(Path("/proc/self/cgroup").read_text()))
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields, _, rest = line.partition(" - ")
            root, point = fields.split()[3:5]
            system, _, options = rest.partition(" ")
            kind = "" if system == "cgroup2" else "memory"
            if system not in ("cgroup", "cgroup2") or kind not in paths:
                continue
            if kind and "memory" not in options.split()[-1].split(","):
                continue
            inside = paths[kind][len(root) if root != "/" and paths[kind].startswith(root) else 0 :].lstrip("/")
            file = Path(point) / inside / ("memory.oom_control" if kind else "memory.events")
            if file.exists():
                return file
    return None


def own_paths(text: str) -> List[Tuple[str, str]]:
    """Read ``4:memory:/path`` and ``0::/path``."""
    found = []
    for line in text.splitlines():
        number, kinds, path = line.split(":", 2)
        if "memory" in kinds.split(","):
            found.append(("memory", path))
        elif number == "0" and not kinds:
            found.append(("", path))
    return found
