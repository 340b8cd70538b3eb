"""What the launcher knew of a job: who ran where, how clocks stood, how each process ended (facts/logs 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankready.diagnose.stamps import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Json = Any  # a file of somebody's: nothing about its shape is certain
MOST_RANKS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One rank: where it ran. ``device`` is the physical id; in a container the kernel knows it as ``host_pid``."""

    rank: int
    host: str
    local_rank: int | None = None
    device: int | None = None
    address: str = ""
    pid: int | None = None
    host_pid: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How one rank ended. ``at`` in seconds of the host's printed clock; ``stopped``: the launcher ended it.

    ``oom``: the kernel's kills for lack of memory that the job's guard counted when it ended.
    """

    rank: int
    exit: int | None = None
    signal: int | None = None
    at: float | None = None
    epoch: bool = False  # ``at`` counts from 1970 in UTC, not in the host's printed time
    stopped: bool = False
    oom: int = 0
    file: str = ""
    number: int = 0
    text: str = ""

    @property
    def failed(self) -> bool:
        """Tell whether it ended badly."""
        return self.signal is not None or self.exit not in (0, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All that is known beforehand; every part may be empty."""

    size: int = 0
    started: float | None = None
    utc: bool = False  # ``started`` was given with a zone: printed times may be off by hours
    master: str = ""
    processes: tuple[Process, ...] = ()
    servers: Mapping[str, str] = field(default_factory=dict)  # host → its address inside the cluster
    offsets: Mapping[str, float | None] = field(default_factory=dict)  # host → its clock minus ours, seconds
    ends: tuple[End, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """How collecting went: hosts that could not be reached, and per host what could not be read."""

    unreachable: tuple[str, ...] = ()
    gaps: tuple[tuple[str, str], ...] = ()  # host, what and why
    offsets: Mapping[str, float] = field(default_factory=dict)


def read_job(told: Json, result: Json) -> Job:
    """Read job.json and result.json; odd parts are passed over."""
    top = told if isinstance(told, dict) else {}
    processes = tuple(_processes(top.get("ranks")))
    hosts = [h for h in _list(top.get("hosts")) if isinstance(h.get("host"), str)]
    started = top.get("started")
    text = started if isinstance(started, str) else ""
    return Job(
        size=_count(top.get("world_size")) or len(processes),
        started=whole(text),
        utc=text.endswith(("Z", "+00:00")),
        master=str(top.get("master") or "").rpartition(":")[0],
        processes=processes,
        servers={h["host"]: str(h.get("ip") or "") for h in hosts},
        offsets={h["host"]: _number(h.get("clock_offset_s")) for h in hosts},
        ends=tuple(_ends(result, processes)),
    )


def read_collected(told: Json) -> Collected:
    """Read collect.json."""
    top = told if isinstance(told, dict) else {}
    hosts = {h: v for h, v in top.items() if isinstance(v, dict)}
    gaps = [(h, str(g)) for h, v in hosts.items() for g in (v.get("gaps") or ()) if isinstance(v.get("gaps"), list)]
    offsets = {h: number for h, v in hosts.items() if (number := _number(v.get("clock_offset_s"))) is not None}
    unreachable = tuple(h for h, v in hosts.items() if v.get("reachable") is False)
    return Collected(unreachable=unreachable, gaps=tuple(gaps), offsets=offsets)


def _processes(told: Json) -> Iterator[Process]:
    for item in _list(told):
        rank, host = _count(item.get("rank")), item.get("host", item.get("server"))
        if rank is None or not isinstance(host, str):
            continue
        yield Process(
            rank=rank,
            host=host,
            local_rank=_count(item.get("local_rank")),
            device=_count(item.get("npu", item.get("device"))),
            address=str(item.get("device_ip") or ""),
            pid=_count(item.get("pid")),
            host_pid=_count(item.get("host_pid")),
        )


def _ends(result: Json, processes: tuple[Process, ...]) -> Iterator[End]:
    top = result if isinstance(result, dict) else {}
    known = {(p.host, p.local_rank): p.rank for p in processes}
    told = top.get("first_failure")
    first = told if isinstance(told, dict) else {}
    for item in _list(top.get("ranks")):
        rank = _count(item.get("rank"))
        if rank is None:
            rank = known.get((str(item.get("server")), _count(item.get("local_rank"))))
        if rank is None:
            continue
        code, signal = item.get("exit"), item.get("signal")
        yield End(
            rank=rank,
            exit=code if isinstance(code, int) else None,
            signal=signal if isinstance(signal, int) else None,
            at=_number(item.get("ended")),
            epoch=True,
            stopped=_stopped(item, first),
            oom=_count(item.get("oom")) or 0,
            file="result.json",
        )


TERM, KILL = 15, 9
GRACE_S = 1.0  # a guard that stops a job's ranks kills none sooner


def _stopped(item: dict[str, Any], first: dict[str, Any]) -> bool:
    """Tell whether a signal was the guard's: it stops all others once one has failed."""
    if not first or (item.get("rank"), item.get("server")) == (first.get("rank"), first.get("server")):
        return False
    ended, began = _number(item.get("ended")), _number(first.get("ended"))
    late = ended is None or began is None or ended >= began + GRACE_S
    return item.get("signal") == TERM or (item.get("signal") == KILL and late)


def _list(value: Json) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _count(value: Json) -> int | None:
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_RANKS * 100
    return value if good else None
