"""Who waits for whom, followed to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def sinks(waits: Mapping[int, Iterable[int]]) -> tuple[int, ...]:
    """Return the ranks that are waited for and wait for nobody, those with the most waiters behind them first."""
    behind: dict[int, set[int]] = {}
    for start in waits:
        for end in _ends(start, waits):
            behind.setdefault(end, set()).add(start)
    return tuple(sorted(behind, key=lambda r: (-len(behind[r]), r)))


def circles(waits: Mapping[int, Iterable[int]]) -> tuple[int, ...]:
    """Return the ranks that wait for each other in a circle."""
    found = set()
    for start in waits:
        if start in _reached(start, waits):
            found.add(start)
    return tuple(sorted(found))


def _ends(start: int, waits: Mapping[int, Iterable[int]]) -> set[int]:
    return {r for r in _reached(start, waits) if not tuple(waits.get(r, ()))}


def _reached(start: int, waits: Mapping[int, Iterable[int]]) -> set[int]:
    seen: set[int] = set()
    open_ = list(waits.get(start, ()))
    while open_:
        rank = open_.pop()
        if rank not in seen:
            seen.add(rank)
            open_ += waits.get(rank, ())
    return seen
