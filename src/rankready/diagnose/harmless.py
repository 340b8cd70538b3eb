"""Errors that their own writer declares harmless, and what a process says after its end (facts/logs 8)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rankready.kind.signature import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.diagnose.event import Event

GROUP_S = 1.0
GROUP_BYTES = 4096
NO_MARK = "Process group work"  # such lines hold the phrase, and excuse nothing
MEMORY = "npu_oom"
NEAR_S = 120.0  # a communicator that was given up long before the end was not the way out


def without_harmless(events: Sequence[Event]) -> tuple[Event, ...]:
    """Leave out failed allocations that the allocator excuses within a second, and work after the way out began."""
    excused = _excuses(events)
    left = _left(events)
    return tuple(e for e in events if not _is_excused(e, excused) and not _is_after(e, left))


def _excuses(events: Sequence[Event]) -> dict[tuple[str, int | None], list[Event]]:
    found: dict[tuple[str, int | None], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind == "allocator_retry" and NO_MARK not in event.line.text:
            found[(event.host, event.rank)].append(event)
    return found


def _is_excused(event: Event, excused: dict[tuple[str, int | None], list[Event]]) -> bool:
    if event.kind != MEMORY:
        return False
    marks = excused.get((event.host, event.rank), ())
    return any(_covers(mark, event) for mark in marks)


def _covers(mark: Event, event: Event) -> bool:
    if mark.at is not None and event.at is not None:
        return 0.0 <= mark.at - event.at <= GROUP_S
    return mark.line.file == event.line.file and 0 <= mark.line.offset - event.line.offset <= GROUP_BYTES


def _left(events: Sequence[Event]) -> dict[int, float]:
    found: dict[int, float] = {}
    for event in events:
        if event.kind == "leave" and event.rank is not None and event.at is not None:
            found[event.rank] = max(event.at, found.get(event.rank, event.at))
    return found


def _is_after(event: Event, left: dict[int, float]) -> bool:
    if event.rank is None or event.at is None or event.signature.role in (Role.FACT, Role.NOISE):
        return False
    return event.rank in left and 0.0 <= event.at - left[event.rank] <= NEAR_S
