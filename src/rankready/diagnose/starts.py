"""When a host's processes of this job began, where the same process numbers have logs of other jobs beside them.

A container numbers its processes anew each time, so the numbers of two jobs are mostly the same (facts/logs 2.1).
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

APART_S = 300.0  # processes of one job begin within this of each other
SAME_S = 5.0  # a new process opens its logs of both parts within this; a rotation opens one alone


def chosen_start(stamps: Sequence[Sequence[float]], expected: float | None) -> float:
    """Choose the start next to the expected moment; ``stamps``: for each process the moments in its logs' names.

    A start is a moment near which most processes have a log: a rotated log goes on from one at the start. Without an
    expected moment the usual oldest log counts.
    """
    oldest = median(sorted(min(s) for s in stamps))
    if expected is None:
        return oldest
    starts = [m for s in stamps for m in s if _most_began(stamps, m)]
    return min((oldest, *starts), key=lambda m: (abs(m - expected), m))


def next_start(logs: Sequence[Sequence[tuple[float, str]]], start: float) -> float | None:
    """Return when most processes of these numbers began anew after their job's start; None where none did.

    ``logs``: for each process number the moment in each log's name and its part, ``run`` or ``debug``.
    """
    later = sorted(m for log in logs for m, _ in log if m > start + APART_S)
    return next((m - SAME_S for m in later if 2 * sum(_opened_both(log, m) for log in logs) >= len(logs)), None)


def _opened_both(log: Sequence[tuple[float, str]], moment: float) -> bool:
    return {part for m, part in log if abs(m - moment) <= SAME_S} == {"run", "debug"}


def _most_began(stamps: Sequence[Sequence[float]], moment: float) -> bool:
    near = sum(any(abs(m - moment) <= APART_S for m in s) for s in stamps)
    return 2 * near >= len(stamps)
