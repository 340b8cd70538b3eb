"""Who of those that failed together failed first, as far as their own last words tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.model.job import RankEnd

# a rank's sockets close before its process ends, so its peers may be gone some milliseconds before it is
TOGETHER_S = 2.0
LAST_LINES = 5
# what a rank says that only lost or waited for another one (facts/launch 5.3, 11; facts/lab 12)
WAITED = (
    "peer closed",
    "broken pipe",
    "connection reset",
    "connection refused",
    "connection closed by peer",
    "timed out",
    "timeout",
    "no route to host",
    "ei0002",
    "ei0006",
    "ei0015",
    "ee1002",
)


def first_of(failures: Sequence[RankEnd], tails: Mapping[tuple[str, int], Sequence[str]]) -> RankEnd | None:
    """Return the failure that the others followed from; None without any.

    ``tails`` are the last lines of each rank's log by (server, local_rank). Of the failures within ``TOGETHER_S`` of
    the earliest, one by a signal comes first, then one whose last words speak of itself, then those that say that
    they waited for another; among equals the earlier one. Later failures are never taken.
    """
    if not failures:
        return None
    earliest = min(_time(end) for end in failures)
    together = [end for end in failures if _time(end) <= earliest + TOGETHER_S]
    return min(together, key=lambda end: (_rank(end, tails.get((end.server, end.local_rank), ())), _time(end)))


def only_waited(tail: Sequence[str]) -> bool:
    """Tell whether a rank's last words speak of another one that it waited for, or lost."""
    last = " ".join(tail[-LAST_LINES:]).lower()
    return any(words in last for words in WAITED)


def _time(end: RankEnd) -> float:
    return float("inf") if end.ended is None else end.ended


def _rank(end: RankEnd, tail: Sequence[str]) -> int:
    if end.signal is not None:
        return 0
    return 2 if only_waited(tail) else 1


def start_skew(starts: Mapping[str, Sequence[float]]) -> tuple[float, dict[str, float]] | None:
    """Return how many seconds lie between the first and the last server's first start, and each server's delay.

    ``starts``: server → its processes' start times on one clock. None where nothing started.
    """
    first = {server: min(times) for server, times in starts.items() if times}
    if not first:
        return None
    earliest = min(first.values())
    return max(first.values()) - earliest, {server: round(at - earliest, 3) for server, at in first.items()}
