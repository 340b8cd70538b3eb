"""From blank servers to addresses set and verified, on a lab of this machine; and what a loop of ssh calls costs.

Run: ``python bench/apply.py [servers …]`` (default 2 32). Where the time goes: every script that is sent is timed from
the client's side and put under its purpose; servers work at the same time, so the parts are given as the wall time in
which at least one server was at it. The naive loop sends the same commands, one ssh each, and reads every
value back; some of its calls are timed, the rest is reckoned from them.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.config.read import read
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec
from rankready.runs.apply import How, apply
from rankready.runs.fleet import Fleet
from rankready.runs.plan import draw
from rankready.runs.site import Site
from rankready.transports.ssh import make

if TYPE_CHECKING:
    from rankready.kind.transport import RawReply, Session, Transport
    from rankready.model.cluster import Cluster, Server
    from rankready.model.record import Record

LIMITS_S = {2: 5.0, 32: 30.0}
NAIVE = 48  # ssh calls of the naive loop that are timed; the rest is reckoned from them
PARTS = ("connect", "observe", "lock", "set", "read back")


class Clock:
    """Wall time by purpose: the union of the spans in which somebody was at it."""

    def __init__(self) -> None:
        self.spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.setting = False

    def add(self, part: str, began: float) -> None:
        """Note a span that ends now."""
        self.spans[part].append((began, time.perf_counter()))

    def seconds(self, part: str) -> float:
        """Add up the time in which at least one span of this purpose was open."""
        total, end = 0.0, 0.0
        for start, stop in sorted(self.spans[part]):
            total += max(0.0, stop - max(start, end))
            end = max(end, stop)
        return total


class TimedSession:
    """A session that notes how long its scripts take."""

    def __init__(self, inner: Session, clock: Clock) -> None:
        self.inner, self.clock = inner, clock

    async def run(self, script: bytes, **limits: Any) -> RawReply:  # noqa: ANN401  (passed on as they are)
        """See Session."""
        began = time.perf_counter()
        reply = await self.inner.run(script, **limits)
        self.clock.add(self._part(script), began)
        return reply

    def _part(self, script: bytes) -> str:
        if b"lock.$$" in script or b"echo left" in script:
            return "lock"
        if b" -s address" in script:
            self.clock.setting = True
            return "set"
        return "read back" if self.clock.setting else "observe"

    async def close(self) -> None:
        """Leave."""
        await self.inner.close()


class TimedTransport:
    """A transport that notes how long it takes to connect."""

    name = "timed"

    def __init__(self, inner: Transport, clock: Clock) -> None:
        self.inner, self.clock = inner, clock

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> TimedSession:
        """See Transport."""
        began = time.perf_counter()
        session = await self.inner.connect(server, timeout_s=timeout_s)
        self.clock.add("connect", began)
        return TimedSession(session, self.clock)

    async def close(self) -> None:
        """Leave."""
        await self.inner.close()


async def ours(cluster: Cluster, home: Path, clock: Clock) -> tuple[Record, dict[str, list[str]]]:
    """Plan, apply, verify; returns the record and the commands that were sent."""
    fleet = Fleet(cluster, TimedTransport(make(), clock))  # type: ignore[arg-type]
    site = Site(cluster=cluster, fleet=fleet, home=home, say=lambda _text: None)
    try:
        drawn = await draw(site)
        commands = (await apply(site, drawn, How(dry_run=True))).extra["commands"]
        return await apply(site, drawn), commands
    finally:
        await fleet.close()


async def naive(folder: Path, commands: dict[str, list[str]]) -> tuple[float, int]:
    """One ssh a command, one after another, each value read back by one more; seconds each, and how many."""
    calls = [(name, line) for name, lines in commands.items() for line in lines]
    calls += [(name, f"{line.partition(' -s ')[0]} -g") for name, line in calls]
    began = time.perf_counter()
    for name, line in calls[:NAIVE]:
        words = ("ssh", "-F", str(folder / "ssh/config"), "-o", "BatchMode=yes", name, line)
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.DEVNULL)
        await process.wait()
    return (time.perf_counter() - began) / min(NAIVE, len(calls)), len(calls)


def one(servers: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="rankready-bench-") as name:
        folder = Path(name) / "lab"
        up(LabSpec(directory=folder, servers=servers, door=Door.AUTO))
        try:
            return measured(servers, folder)
        finally:
            Lab.open(folder).down()


def measured(servers: int, folder: Path) -> bool:
    clock = Clock()
    began = time.perf_counter()
    record, commands = asyncio.run(ours(read(folder / "cluster.yaml"), folder / ".rankready", clock))
    seconds = time.perf_counter() - began
    each, calls = asyncio.run(naive(folder, commands))
    limit = LIMITS_S.get(servers)
    ok = record.exit == 0 and not record.extra.get("not_accepted") and (limit is None or seconds <= limit)
    changed = record.extra.get("changed")
    print(f"{servers}x8: {seconds:.2f} s to set {changed} values and read them back, exit {record.exit}")
    print("   " + ", ".join(f"{part} {clock.seconds(part):.2f} s" for part in PARTS))
    loop = each * calls
    print(
        f"   naive loop: {calls} ssh calls at {each * 1000:.0f} ms = {loop:.0f} s, {loop / seconds:.1f} times as long"
    )
    if limit is not None:
        print(f"   limit {limit:g} s: {'kept' if ok else 'BROKEN'}")
    return ok


if __name__ == "__main__":
    sizes = [int(word) for word in sys.argv[1:]] or list(LIMITS_S)
    kept = [one(size) for size in sizes]
    sys.exit(0 if all(kept) else 1)
