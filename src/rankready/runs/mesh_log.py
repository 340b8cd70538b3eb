"""What probing learned, kept while it goes on: a run that was interrupted need not ask again.

``.rankready/mesh/<digest>.bits`` holds a bit for each planned call that passed: for each group of devices a row for
each of them, bit ``j`` for its call to the ``j``-th. ``<digest>.jsonl`` holds a head and a record for anything else.
The digest stands for the plan, so a result never meets another plan's.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import json
import os
import time
from hashlib import sha256
from itertools import accumulate
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from rankready.mesh.ledger import Ledger
from rankready.mesh.probe import ProbeResult
from rankready.mesh.reach import probe
from rankready.model.errors import Locked
from rankready.model.place import device_place, parse_place
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from rankready.mesh.ledger import Block
    from rankready.mesh.schedule import Schedule
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

VERSION = 2
KEPT = dt.timedelta(hours=24)  # an older result proves nothing of today (facts/mesh 12)
SYNC_S = 1.0


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
    """One plan's results, in memory and on disk; held by one run at a time."""

    def __init__(self, home: Path, plan: Schedule, *, resume: bool) -> None:
        """Open, or go on with, the plan's files; raises Locked while another run holds them."""
        self.path = home / "mesh" / f"{digest(plan)}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._synced, self.began = 0.0, now_utc()
        self._file: TextIO = self.path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise Locked(f"another mesh run of this plan is under way ({self.path})") from error
        self._bits: BinaryIO = open_for_bits(self.path.with_suffix(".bits"))
        self.ledger = Ledger(plan)
        self._starts = list(accumulate((_bytes(b) * len(b.group) for b in self.ledger.blocks), initial=0))
        if resume:
            self._read()
        if not len(self.ledger):
            self._file.truncate(0)
            self._bits.truncate(0)
            self._line({"version": VERSION, "cluster": plan.cluster.name, "mode": plan.mode, "at": self.began})

    def _read(self) -> None:
        """Take up what an interrupted run had learned, unless it is too old or that run ended."""
        self._file.seek(0)
        lines = list(_lines(self._file))
        oldest = (dt.datetime.now(tz=dt.UTC) - KEPT).isoformat()
        if not lines or lines[0].get("version") != VERSION or any(line.get("done") for line in lines):
            return  # what a run that ended found may have been mended since
        if str(lines[0].get("at")) < oldest:
            return
        self.began = str(lines[0]["at"])
        for number, block in enumerate(self.ledger.blocks):
            for i in range(len(block.group)):
                row = os.pread(self._bits.fileno(), _bytes(block), self._starts[number] + i * _bytes(block))
                block.passed[i] = int.from_bytes(row, "little") & block.planned[i]
        for line in lines[1:]:
            if (result := _result(self.ledger.plan.cluster, line)) is not None:
                self.ledger.add(result)

    def add(self, result: ProbeResult) -> None:
        """Enter a result and write it down at once; what was not measured is not kept."""
        source, target = result.probe.source, result.probe.target
        if self.ledger.add(result):
            self._bit(source, target)
        elif result.gap is None:
            self._line({"s": source.name, "d": source.device, "to": str(target), "n": [result.sent, result.received]})

    def _bit(self, source: Place, target: Place) -> None:
        at = self.ledger.seat(source, target)
        if at is not None:
            number, i, j = at
            block = self.ledger.blocks[number]
            byte = block.passed[i] >> (j & ~7) & 0xFF
            os.pwrite(self._bits.fileno(), bytes((byte,)), self._starts[number] + i * _bytes(block) + (j >> 3))

    def sync(self, *, now: bool = False) -> None:
        """Wait until the disk has it, at most once a second: a kill loses nothing that was written, a crash little."""
        if not now and time.monotonic() - self._synced < SYNC_S:
            return
        self._synced = time.monotonic()
        for file in (self._file, self._bits):
            with contextlib.suppress(OSError):  # a file system that can't is no reason to stop
                os.fsync(file.fileno())

    def certify(self, said: Mapping[str, Any]) -> Path:
        """Write down what the run proved, beside its results; return the file."""
        path, fresh = self.path.with_suffix(".certificate.json"), self.path.with_suffix(".certificate.new")
        fresh.write_text(json.dumps(said, separators=(",", ":")) + "\n", encoding="utf-8")
        fresh.replace(path)
        return path

    def close(self, *, done: bool) -> None:
        """End; ``done``: nothing is left to go on with."""
        if done:
            self._line({"done": True, "at": now_utc()})
        self.sync(now=True)
        self._file.close()
        self._bits.close()

    def _line(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, separators=(",", ":")) + "\n")
        self._file.flush()


def open_for_bits(path: Path) -> BinaryIO:
    """Open a file that is written here and there; it is made where there is none."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)


def _bytes(block: Block) -> int:
    return (len(block.group) + 7) // 8


def _lines(file: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield whole lines; the last one may have been cut by a kill."""
    for text in file:
        with contextlib.suppress(ValueError):
            line = json.loads(text)
            if isinstance(line, dict):
                yield line


def _result(cluster: Cluster, line: Mapping[str, Any]) -> ProbeResult | None:
    """Read one record; None where it is none, or of a device that the plan does not know."""
    try:
        source, target = device_place(str(line["s"]), int(line["d"])), parse_place(str(line["to"]))
        sent, received = (int(n) for n in line["n"])
        return ProbeResult(probe=probe(cluster, source, target), sent=sent, received=received)
    except (KeyError, TypeError, ValueError):
        return None
