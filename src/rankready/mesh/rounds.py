"""Pack the shifts of all rails into as few rounds as a limit of calls per host allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Unit:
    """The ``step``-th shift of one rail: each of its devices calls at most once and is called at most once."""

    step: int
    rail: int


Slot = tuple[Unit, ...]
"""Units that together cost every host one call: one unit, or two rails' half-way shift, called by half each."""


def pack(slots: Sequence[Slot], per_host: int) -> tuple[tuple[Unit, ...], ...]:
    """Put up to ``per_host`` slots on different rails into each round; slots of two rails first, then the longest rail.

    Reaches ⌈n(N−1)/(2H)⌉ rounds for all pairs and ⌈n(N−1)/H⌉ for all ordered pairs (facts/mesh 3, T5 and T5d).
    """
    shared = [s for s in slots if len(s) > 1]
    waiting: dict[int, list[Unit]] = {}
    for slot in reversed(slots):
        if len(slot) == 1:
            waiting.setdefault(slot[0].rail, []).append(slot[0])
    rounds: list[tuple[Unit, ...]] = []
    while shared or any(waiting.values()):
        chosen, shared = _shared(shared, per_host)
        busy = {u.rail for slot in chosen for u in slot}
        free = sorted((r for r, left in waiting.items() if left and r not in busy), key=lambda r: (-len(waiting[r]), r))
        singles = [waiting[r].pop() for r in free[: per_host - len(chosen)]]
        rounds.append((*(u for slot in chosen for u in slot), *singles))
    return tuple(rounds)


def _shared(slots: list[Slot], per_host: int) -> tuple[list[Slot], list[Slot]]:
    """Take slots whose rails do not overlap, as many as fit."""
    chosen: list[Slot] = []
    left: list[Slot] = []
    busy: set[int] = set()
    for slot in slots:
        rails = {u.rail for u in slot}
        if len(chosen) < per_host and not rails & busy:
            chosen.append(slot)
            busy |= rails
        else:
            left.append(slot)
    return chosen, left
