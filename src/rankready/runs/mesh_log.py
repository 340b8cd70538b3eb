"""What probing learned, kept while it goes on: a run that was interrupted need not ask again.

``.rankready/mesh/<digest>.jsonl``: a head, then one line for whatever came in together from one server. A pass is one
bit, anything else a record; the digest stands for the plan, so a result never meets another plan's.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import json
import os
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TextIO

from rankready.mesh.probe import ProbeResult
from rankready.model.errors import Locked
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rankready.mesh.probe import Probe
    from rankready.mesh.schedule import Schedule

Slots = dict[int, ProbeResult]

VERSION = 1
KEPT = dt.timedelta(hours=24)  # an older result proves nothing of today (facts/mesh 12)
SYNC_S = 1.0
PACKETS = 3  # of one call that passed (facts/hccn 3.1)


def digest(plan: Schedule) -> str:
    """Name a plan: who, at which addresses, in which order. Results under one name can be put together."""
    cluster = plan.cluster
    parts = [
        VERSION,
        [cluster.name, cluster.generation, cluster.topology, plan.mode, plan.terms.sparse_k, plan.terms.per_host],
        [[s.name, *s.devices] for s in cluster.servers],
        [[str(p), str(a.interface)] for p, a in cluster.addressing.items()],
    ]
    return sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()[:16]


class Log:
    """One plan's results on disk; held by one run at a time."""

    def __init__(self, home: Path, plan: Schedule, *, resume: bool) -> None:
        """Open, or go on with, the plan's file; raises Locked while another run holds it."""
        self.path = home / "mesh" / f"{digest(plan)}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._synced = 0.0
        self._file: TextIO = self.path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise Locked(f"another mesh run of this plan is under way ({self.path})") from error
        self.known: dict[str, Slots] = self._read(plan) if resume else {}
        if not self.known:
            self._file.truncate(0)
            self._line({"version": VERSION, "cluster": plan.cluster.name, "mode": plan.mode, "at": now_utc()})

    def _read(self, plan: Schedule) -> dict[str, Slots]:
        self._file.seek(0)
        found: dict[str, dict[int, tuple[int, int]]] = {}
        oldest = (dt.datetime.now(tz=dt.UTC) - KEPT).isoformat()
        for line in _lines(self._file):
            if line.get("done"):
                return {}  # that run ended: what it found may have been mended since
            if "s" in line and str(line.get("at")) >= oldest:
                found.setdefault(line["s"], {}).update(_slots(line))
        calls = {s.name: s for s in plan.cluster.servers}
        return {name: _results(tuple(plan.calls(name)), slots) for name, slots in found.items() if name in calls}

    def add(self, server: str, results: Mapping[int, ProbeResult]) -> None:
        """Append what was measured of a server, by slot; what was not measured is not kept."""
        kept = {slot: r for slot, r in results.items() if r.gap is None}
        if kept:
            first = min(kept)
            bits = sum(1 << (slot - first) for slot, r in kept.items() if r.sent == r.received == PACKETS)
            rest = [[s, r.sent, r.received] for s, r in kept.items() if not r.sent == r.received == PACKETS]
            line: dict[str, Any] = {"s": server, "at": now_utc(), "from": first, "pass": f"{bits:x}"}
            self._line({**line, "not": rest} if rest else line)

    def sync(self, *, now: bool = False) -> None:
        """Wait until the disk has it, at most once a second: a kill loses nothing that was written, a crash little."""
        if not now and time.monotonic() - self._synced < SYNC_S:
            return
        self._synced = time.monotonic()
        with contextlib.suppress(OSError):  # a file system that can't is no reason to stop
            os.fsync(self._file.fileno())

    def close(self, *, done: bool) -> None:
        """End; ``done``: nothing is left to go on with."""
        if done:
            self._line({"done": True, "at": now_utc()})
        self.sync(now=True)
        self._file.close()

    def _line(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, separators=(",", ":")) + "\n")
        self._file.flush()


def _lines(file: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield whole lines; the last one may have been cut by a kill."""
    for text in file:
        with contextlib.suppress(ValueError):
            line = json.loads(text)
            if isinstance(line, dict):
                yield line


def _slots(line: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    first, bits = int(line["from"]), int(line["pass"], 16)
    found = {first + n: (PACKETS, PACKETS) for n in range(bits.bit_length()) if bits >> n & 1}
    found.update({int(s): (int(sent), int(received)) for s, sent, received in line.get("not", ())})
    return found


def _results(calls: Sequence[Probe], slots: Mapping[int, tuple[int, int]]) -> Slots:
    return {
        slot: ProbeResult(probe=calls[slot], sent=sent, received=received)
        for slot, (sent, received) in slots.items()
        if 0 <= slot < len(calls)
    }
