"""A running job: its state, what happens to it, what is to be done about that."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.text import Text


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
    """How one process ended. Times are the server's own clock, seconds since the epoch.

    ``oom``: how many processes of the server its kernel killed for lack of memory shortly before; None: not known.
    """

    server: str
    rank: int | None
    local_rank: int
    exit: int | None = None
    signal: int | None = None
    started: float | None = None
    ended: float | None = None
    oom: int | None = None

    @property
    def failed(self) -> bool:
        """Tell whether it ended badly."""
        return self.signal is not None or self.exit not in (0, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What the controller knows. ``ends`` by (server, local_rank); ``first_failure`` is the earliest one.

    All times are seconds on the controller's clock, servers' times corrected to it.
    """

    phase: Phase = Phase.STARTING
    expected: Mapping[str, int] = field(default_factory=dict)  # server → processes
    ready: frozenset[str] = frozenset()
    begun: frozenset[str] = frozenset()  # servers whose guard knows that all servers run their share
    started: frozenset[tuple[str, int]] = frozenset()  # (server, local_rank) of processes that were seen to start
    over: frozenset[str] = frozenset()  # servers whose guard said that nothing is left
    gone: frozenset[str] = frozenset()  # servers given up: what became of their processes is not known
    lost: Mapping[str, float] = field(default_factory=dict)  # server → when its connection went
    stopping: frozenset[str] = frozenset()  # servers whose guard began to stop
    ends: Mapping[tuple[str, int], RankEnd] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)  # server → processes that would not end
    cause: Cause | None = None
    first_failure: RankEnd | None = None
    failures: tuple[RankEnd, ...] = ()  # all that no guard's stop can have caused, as they were heard
    stopped_at: float | None = None
    give_up_at: float | None = None  # when a stop that nobody answers is given up
    grace_s: float = 10.0  # between TERM and KILL when a person stops the job
    patience_s: float = 25.0  # how long a lost server may yet come back: its lease and its guard's own kill


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A server's guard has started its processes."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A server's guard took note that all servers run their share: the job may now stay alone."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A process was started."""

    server: str
    local_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """A server's guard saw other ranks than before hold a connection to the master port; it decides nothing."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFailed:
    """A server could not start its share."""

    server: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """A process ended."""

    end: RankEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """A guard began to stop its processes, by our order or for a ``why`` of its own; reported before it signals."""

    server: str
    why: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A guard ended its job; ``left`` processes would not go."""

    server: str
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The connection to a server broke; its guard goes on."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Regained:
    """The connection to a server stands again."""

    server: str


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Ctrl-C, or a signal like it."""


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody wants the job to end in order."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time went by."""


Event = (
    Ready
    | Begun
    | Started
    | Reached
    | StartFailed
    | Exited
    | Stopping
    | Over
    | Lost
    | Regained
    | Interrupt
    | StopAsked
    | Tick
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Tell a guard to end its processes: TERM, grace, KILL."""

    server: str
    grace_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """Tell a guard that all servers run their share."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Tell a guard to kill at once."""

    server: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Tell the person."""

    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """Nothing more will come."""

    cause: Cause


Action = Begin | Stop | Kill | Say | Finish
