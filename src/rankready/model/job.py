"""A running job: its state, what happens to it, what is to be done about that."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Phase(StrEnum):
    """Where a job stands."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"


class Cause(StrEnum):
    """Why a job ended."""

    DONE = "done"  # every rank ended with 0
    RANK_FAILED = "rank_failed"
    SERVER_LOST = "server_lost"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # asked for from elsewhere
    START_FAILED = "start_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RankEnd:
    """How one process ended. Times are the server's own clock, seconds since the epoch."""

    server: str
    rank: int | None
    local_rank: int
    exit: int | None = None
    signal: int | None = None
    started: float | None = None
    ended: float | None = None

    @property
    def failed(self) -> bool:
        """Tell whether it ended badly."""
        return self.signal is not None or self.exit not in (0, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What the controller knows. ``ends`` by (server, local_rank); ``first_failure`` is the earliest reported."""

    phase: Phase = Phase.STARTING
    expected: Mapping[str, int] = field(default_factory=dict)  # server → processes
    ready: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()  # servers whose guard said that nothing is left
    lost: Mapping[str, float] = field(default_factory=dict)  # server → when its connection went (monotonic)
    ends: Mapping[tuple[str, int], RankEnd] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)  # server → processes that would not end
    cause: Cause | None = None
    first_failure: RankEnd | None = None
