"""One job's case: who ran, what was read, what time it was; everything that a verdict may rest on."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rankready.kind.signature import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.diagnose.clock import Offset
    from rankready.diagnose.event import Event, Line
    from rankready.diagnose.job import Collected, End, Job
    from rankready.diagnose.roster import Roster

CONNECT_S = 120.0  # HCCL's own default, where no line tells another
EXECUTE_S = 1836.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """What a device's own record of its link told: changes as (printed moment, went up)."""

    host: str
    device: int
    line: Line
    downs: int | None = None
    changes: tuple[tuple[float, bool], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A process that listens on a port, or holds an NPU, as the server's own tools told."""

    host: str
    port: int | None
    pid: int | None
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A device's TLS switch, as the device itself told when logs were collected."""

    host: str
    device: int
    on: bool
    line: Line


@dataclass(frozen=True, kw_only=True)
class Case:
    """Everything known. Times are true times; ``ends`` by rank; ``read`` names the ranks whose own words were read."""

    job: Job
    roster: Roster
    events: tuple[Event, ...]
    ends: Mapping[int, End] = field(default_factory=dict)
    clocks: Mapping[str, Offset] = field(default_factory=dict)
    collected: Collected
    ports: tuple[Port, ...] = ()
    listeners: tuple[Listener, ...] = ()
    switches: tuple[Switch, ...] = ()
    read: frozenset[int] = frozenset()
    heard: frozenset[int] = frozenset()  # the ranks whose output or error log was read: there they would report
    seen_hosts: frozenset[str] = frozenset()
    kernel_read: frozenset[str] = frozenset()
    ascend_read: frozenset[str] = frozenset()
    began: Mapping[int, float] = field(default_factory=dict)  # rank → its process's start
    log_from: Mapping[int, float] = field(default_factory=dict)  # rank → start of the oldest error log that is left
    kinds: Mapping[str, str] = field(default_factory=dict)  # code → the fault that it proves
    stopped_by_hand: bool = False
    set_back: frozenset[str] = frozenset()  # hosts whose clock was set back while the job ran

    def of(self, *kinds: str) -> tuple[Event, ...]:
        """All events of some kinds, in order of time; those without a moment come last."""
        return (
            tuple(e for kind in kinds for e in self._by_kind.get(kind, ()))
            if len(kinds) == 1
            else _sorted(e for kind in kinds for e in self._by_kind.get(kind, ()))
        )

    @cached_property
    def _by_kind(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            found[event.kind].append(event)
        return found

    @cached_property
    def by_rank(self) -> dict[int, tuple[Event, ...]]:
        """Each rank's events, in order."""
        found: dict[int, list[Event]] = defaultdict(list)
        for event in self.events:
            if event.rank is not None:
                found[event.rank].append(event)
        return {rank: tuple(events) for rank, events in found.items()}

    def first(self, rank: int, *roles: Role) -> Event | None:
        """A rank's first event of some roles."""
        return next((e for e in self.by_rank.get(rank, ()) if e.signature.role in roles), None)

    @cached_property
    def connect_s(self) -> float:
        """The effective HCCL_CONNECT_TIMEOUT."""
        said = [int(e.fields["limit"]) for e in self.of("root_timeout", "agent_timeout") if e.number("limit")]
        return float(said[0]) if said else self._limit("HCCL_CONNECT_TIMEOUT", CONNECT_S)

    @cached_property
    def execute_s(self) -> float:
        """The effective HCCL_EXEC_TIMEOUT."""
        return self._limit("HCCL_EXEC_TIMEOUT", EXECUTE_S)

    def _limit(self, name: str, default: float) -> float:
        values = [e.fields["value"] for e in self.of("limit") if e.fields.get("name") == name]
        return float(values[0]) if values and values[0].count(".") <= 1 else default

    @cached_property
    def issued(self) -> dict[int, float]:
        """Rank → when it issued the operator in which it waited in vain."""
        found: dict[int, float] = {}
        for event in self.of("wait_operator"):
            moment = event.fields.get("issued_at")
            if event.rank is not None and moment:
                found.setdefault(event.rank, float(moment))
        return found

    @cached_property
    def members(self) -> dict[tuple[str, int], int]:
        """(communicator, its own rank number) → rank of the world."""
        found: dict[tuple[str, int], int] = {}
        for event in self.of("entry", "table_entry", "wait_group"):
            number, group = event.number("rank"), event.fields.get("group")
            if event.rank is not None and number is not None and group:
                found.setdefault((group, number), event.rank)
        return found

    def world_rank(self, event: Event, number: int) -> int | None:
        """Return the rank of the world for a number that a waiting rank's line gives a member of its communicator."""
        for told in self.of("wait_group"):
            if told.rank != event.rank:
                continue
            if told.number("size") == self.roster.size:
                return number
            return self.members.get((told.fields["group"], number))
        return number

    @cached_property
    def progressed(self) -> float | None:
        """The last moment at which training went on, over all ranks."""
        return max((e.at for e in self.of("progress") if e.at is not None), default=None)

    @cached_property
    def stall(self) -> float | None:
        """When the job stood still: the last progress, or when the first operator that never ended was issued."""
        known = [t for t in (self.progressed, min(self.issued.values(), default=None)) if t is not None]
        return max(known, default=None)

    def hosts_of(self, ranks: Iterable[int]) -> tuple[str, ...]:
        """The hosts of some ranks, in the job's order."""
        named = {self.roster.host_of(r) for r in ranks}
        return tuple(h for h in self.roster.names if h in named)

    def waiting(self) -> tuple[int, ...]:
        """The ranks that say that they waited in vain, or that a peer was gone."""
        return tuple(r for r in self.roster.ranks if self.first(r, Role.TIMEOUT, Role.LEFT, Role.PEER))

    def unread(self) -> tuple[int, ...]:
        """The ranks of which nothing was read."""
        return tuple(r for r in self.roster.ranks if r not in self.read)

    def dark(self) -> tuple[str, ...]:
        """The hosts of which no rank's words were read, or that could not be reached."""
        names = self.roster.names
        quiet = [
            h for h in names if h in self.collected.unreachable or not any(r in self.read for r in self.roster.on(h))
        ]
        return (*quiet, *(h for h in self.collected.unreachable if h not in names))


def _sorted(events: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(sorted(events, key=order))


def order(event: Event) -> tuple[float, str, int]:
    """Sort by time, then by place in the files; what has no moment comes last."""
    return (event.at if event.at is not None else float("inf"), event.line.file, event.line.offset)
