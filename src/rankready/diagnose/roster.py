"""Who is who: every rank by its process, its place, its server's address and its device's address (facts/logs 5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rankready.diagnose.job import MOST_RANKS, Process

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.diagnose.event import Event, Page
    from rankready.diagnose.job import Job

IDENTITY = ("agent", "local_rank", "entry", "table_entry", "torch_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """The ranks of a job, and every way to find one."""

    by_rank: Mapping[int, Process]
    by_pid: Mapping[tuple[str, int], int]
    by_kernel: Mapping[tuple[str, int], int]  # by the pid that the kernel knows
    by_place: Mapping[tuple[str, int], int]  # (host, physical device)
    by_address: Mapping[str, int]
    hosts: Mapping[str, str] = field(default_factory=dict)  # a server's address or id → host
    size: int = 0

    def host_of(self, rank: int) -> str:
        """Return where a rank ran; "" when that is not known."""
        found = self.by_rank.get(rank)
        return found.host if found else ""

    def pid_of(self, rank: int) -> str:
        """Return a rank's process as it is typed after a command; ``PID`` where it is not known."""
        found = self.by_rank.get(rank)
        return str((found and (found.host_pid or found.pid)) or "PID")

    def of_pid(self, host: str, pid: int | None) -> int | None:
        """Find a rank by its process, as the process itself or the kernel numbers it."""
        return None if pid is None else self.by_pid.get((host, pid))

    def of_kernel(self, host: str, pid: int | None) -> int | None:
        """Find a rank by its process as the kernel numbers it: in a container not the number that it has itself."""
        return None if pid is None else self.by_kernel.get((host, pid))

    def at(self, server: str, device: int | None) -> int | None:
        """Find a rank by its server (host, address or ``address%interface``) and physical device."""
        bare = server.partition("%")[0]
        host = bare if bare in self.names else self.hosts.get(bare, "")
        return None if device is None else self.by_place.get((host, device))

    def host_at(self, server: str) -> str:
        """Return the host of a server's address; "" when it is nobody's."""
        bare = server.partition("%")[0]
        return bare if bare in self.names else self.hosts.get(bare, "")

    @property
    def names(self) -> tuple[str, ...]:
        """The hosts, in the order of their ranks."""
        return tuple(dict.fromkeys(p.host for p in self.by_rank.values()))

    @property
    def ranks(self) -> tuple[int, ...]:
        """All ranks, in order."""
        return tuple(sorted(self.by_rank))

    def on(self, host: str) -> tuple[int, ...]:
        """The ranks of one host."""
        return tuple(r for r in self.ranks if self.by_rank[r].host == host)


def roster(job: Job, events: Iterable[Event]) -> Roster:
    """Join what the launcher recorded with what processes say of themselves; the record wins."""
    listed = tuple(events)
    known = {p.rank: p for p in job.processes}
    size = job.size or _world(listed)
    for event in listed:
        rank = _own_rank(event, size)
        if rank is None or event.kind not in IDENTITY or (job.size and rank >= job.size):
            continue
        said = _said(event, rank)
        known[rank] = _joined(known[rank], said) if rank in known else said
    hosts = {address: host for host, address in job.servers.items() if address}
    for event in listed:
        if event.kind in ("agent", "local_rank") and event.fields.get("server"):
            hosts.setdefault(event.fields["server"].partition("%")[0], event.host)
    return _indexed(known, hosts, max(size, len(known)))


def unknown_ranks(known: Roster, outputs: Iterable[Event | Page]) -> Roster:
    """Add ranks that only their output's file names tell of, whether or not anything in it means something."""
    found = dict(known.by_rank)
    for output in outputs:
        if output.rank is not None and output.rank not in found and output.rank < MOST_RANKS:
            found[output.rank] = Process(rank=output.rank, host=output.host, pid=output.pid)
    return _indexed(found, dict(known.hosts), max(known.size, len(found)))


def _world(events: tuple[Event, ...]) -> int:
    """Take the largest communicator that anybody entered."""
    sizes = [n for e in events if e.kind in IDENTITY and (n := e.number("size"))]
    return min(max(sizes, default=0), MOST_RANKS)


def _own_rank(event: Event, size: int) -> int | None:
    """Return the rank of the world that a line gives its own process; other communicators number their own."""
    told = event.number("size")
    rank = event.number("rank")
    if rank is None or rank >= MOST_RANKS or (told is not None and size and told != size):
        return None
    return rank


def _said(event: Event, rank: int) -> Process:
    return Process(
        rank=rank,
        host=event.host,
        device=event.number("device"),
        address=event.fields.get("address") or "",
        pid=event.pid if event.pid is not None else event.number("pid"),
    )


def _joined(recorded: Process, said: Process) -> Process:
    if recorded.host != said.host:
        return recorded
    return replace(
        recorded,
        device=recorded.device if recorded.device is not None else said.device,
        address=recorded.address or said.address,
        pid=recorded.pid if recorded.pid is not None else said.pid,
    )


def _indexed(known: Mapping[int, Process], hosts: dict[str, str], size: int) -> Roster:
    found = dict(sorted(known.items()))
    pids: dict[tuple[str, int], int] = {}
    kernel: dict[tuple[str, int], int] = {}
    for process in found.values():
        outside = process.host_pid if process.host_pid is not None else process.pid
        if outside is not None:
            kernel[(process.host, outside)] = process.rank
            pids.setdefault((process.host, outside), process.rank)
        if process.pid is not None:
            pids[(process.host, process.pid)] = process.rank
    return Roster(
        by_rank=found,
        by_pid=pids,
        by_kernel=kernel,
        by_place={(p.host, p.device): p.rank for p in found.values() if p.device is not None},
        by_address={p.address: p.rank for p in found.values() if p.address},
        hosts=hosts,
        size=size,
    )
