"""In which order a rail walks its shifts, so that stopping after any few of them still names culprits."""

from __future__ import annotations

import heapq
import math
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from rankready.mesh.seeds import known_seed

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEEDS = 32
_PREFIX = 8
_PLAIN = 6  # below this many servers every order is as good as counting


@lru_cache(maxsize=64)
def shift_order(servers: int, leaf: int = 0) -> tuple[int, ...]:
    """Return 1…⌊N/2⌋ so that every prefix joins the devices well (facts/mesh 4).

    1 and 2 stay inside a leaf and make triangles; the second shift leaves the leaf for every device (``leaf`` devices
    of a rail on one leaf; 0 = not known). The rest is ordered by hash, under the seed that spreads best: every host
    and every version computes the same list, without a random generator.
    """
    shifts = range(1, servers // 2 + 1)
    if servers < _PLAIN:
        return tuple(shifts)
    known = None if leaf else known_seed(servers)
    return _ordered(servers, leaf, best_seed(servers, leaf) if known is None else known)


@lru_cache(maxsize=64)
def best_seed(servers: int, leaf: int = 0) -> int:
    """Return the seed in 0…31 whose first eight shifts have the widest spectral gap; the smallest on a tie."""
    cosines = [math.cos(2 * math.pi * j / servers) for j in range(servers)]
    best, best_gap = 0, -math.inf
    for seed in range(_SEEDS):
        gap = _gap(servers, _prefix(servers, leaf, seed), cosines, best_gap)
        if gap > best_gap:
            best, best_gap = seed, gap
    return best


def spectral_gap(servers: int, shifts: tuple[int, ...]) -> float:
    """Return 1 − the largest non-trivial eigenvalue of the circulant graph with these shifts, at 12 digits."""
    cosines = [math.cos(2 * math.pi * j / servers) for j in range(servers)]
    return _gap(servers, shifts, cosines, -math.inf)


def _gap(servers: int, shifts: tuple[int, ...], cosines: list[float], floor: float) -> float:
    """Stop as soon as the gap cannot exceed ``floor`` any more: most seeds lose within a few frequencies."""
    gap = math.inf
    for j in range(1, servers // 2 + 1):  # frequencies j and N-j have the same eigenvalue
        here = round(1 - sum(cosines[j * s % servers] for s in shifts) / len(shifts), 12)
        if here < gap:
            gap = here
            if gap <= floor:
                return gap
    return gap


def _ordered(servers: int, leaf: int, seed: int) -> tuple[int, ...]:
    hashed = [s for _, s in sorted(_digests(servers, seed)) if s not in (1, 2)]
    return _headed(hashed, servers, leaf)


def _prefix(servers: int, leaf: int, seed: int) -> tuple[int, ...]:
    """Return the first few shifts without sorting the others: this is tried for every seed."""
    if leaf:
        return _ordered(servers, leaf, seed)[:_PREFIX]
    first = heapq.nsmallest(_PREFIX + 2, _digests(servers, seed))
    return _headed([s for _, s in first if s not in (1, 2)], servers, leaf)[:_PREFIX]


def _digests(servers: int, seed: int) -> Iterator[tuple[bytes, int]]:
    head = f"{seed}:{servers}:".encode()
    return ((sha256(head + b"%d" % s).digest(), s) for s in range(1, servers // 2 + 1))


def _headed(hashed: list[int], servers: int, leaf: int) -> tuple[int, ...]:
    crossing = [s for s in hashed if 0 < leaf < servers and leaf <= s <= servers - leaf]
    second = (crossing or hashed)[:1]
    return (1, *second, 2, *(s for s in hashed if s not in second))
