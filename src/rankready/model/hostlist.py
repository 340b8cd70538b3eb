"""Many names as one: ``server[001-128]/3``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_NUMBER = re.compile(r"([0-9]+)")
_DIGITS = 9  # longer digit groups are serial numbers, no positions


def fold(names: Iterable[str]) -> tuple[str, ...]:
    """Write names that differ in their numbers as ranges, in the order of first appearance; repeats are dropped.

    ``config.ranges.expand`` is the way back: it gives the same set of names. Names that hold a bracket stay alone.
    """
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for name in dict.fromkeys(names):
        parts = tuple(_NUMBER.split(name)) if "[" not in name and "]" not in name else (name,)
        groups.setdefault(_skeleton(parts), []).append(parts)
    return tuple("".join(parts) for group in groups.values() for parts in _folded(group))


def number_runs(numbers: Iterable[int], joint: str = ", ") -> str:
    """Write numbers as runs in ascending order: ``0-3, 8``."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return joint.join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def number_text(low: str, number: int) -> str:
    """Write a number the way its range began: ``low`` with a leading zero keeps its width."""
    return str(number).zfill(len(low)) if low[0] == "0" else str(number)


def _skeleton(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("" if i % 2 and len(p) <= _DIGITS else p for i, p in enumerate(parts))


def _folded(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    for column in reversed(range(1, len(rows[0]), 2)):
        by_rest: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            by_rest.setdefault((*row[:column], *row[column + 1 :]), []).append(row[column])
        rows = [(*rest[:column], _ranges(values), *rest[column:]) for rest, values in by_rest.items()]
    return rows


def _ranges(values: Sequence[str]) -> str:
    """Write one column; values of a column that was not folded yet are plain digits, all others stand alone."""
    if len(values) == 1:
        return values[0]
    runs: list[list[str]] = []
    for value in sorted(values, key=lambda v: (int(v), len(v))):
        if runs and value == number_text(runs[-1][0], int(runs[-1][-1]) + 1):
            runs[-1].append(value)
        else:
            runs.append([value])
    return "[" + ",".join(r[0] if len(r) == 1 else f"{r[0]}-{r[-1]}" for r in runs) + "]"
