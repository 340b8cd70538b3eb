"""Which devices lose packets, found by taking out the worst first."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.mesh.tally import Tally, Universe

_BACKGROUND = 0.001  # a packet is lost now and then on a sound fabric (facts/mesh 9, step 6)
_GAIN = 8.0  # log-likelihood that a device must explain, seen by three partners; chance gives it to 1 in 30,000
_GAIN_OF_TWO = 12.0  # seen by two
_GRID = (0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97)
_PARTNERS = 2
_ELSEWHERE = 2 / 3
_STRANGE = 0.02

Ties = dict[int, dict[int, "Tally"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What the losses among good devices come from.

    ``rates``: loss per blamed device. ``partners``: with whom each loses. ``split``: those that lose all or nothing,
    partner by partner. ``strange``: pairs that the rates do not explain, with the chance of it. ``silent_pairs``:
    nothing passes though both ends do well elsewhere.
    """

    rates: Mapping[int, float] = field(default_factory=dict)
    partners: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    split: frozenset[int] = frozenset()
    strange: Mapping[tuple[int, int], float] = field(default_factory=dict)
    silent_pairs: tuple[tuple[int, int], ...] = ()


def losses(universe: Universe, good: frozenset[int], known: frozenset[int] = frozenset()) -> Losses:
    """Explain the losses among good devices by as few lossy devices as will do (facts/mesh 9, steps 6 and 8).

    A packet survives both ends: (1−a)(1−b). Pairs that lost everything while both ends pass elsewhere are kept out:
    they may be paths. A device is blamed only if it loses with two partners or more. What is lost with ``known`` ones,
    whose fault something else told, is theirs alone.
    """
    sound = good - known
    mask = sum(1 << i for i in sound)  # who lost nothing there explains nothing, and is most of a large rail
    lossy = [i for i in good if universe.ties[i].lossy & mask]
    inside = {i: {j: t for j, t in universe.ties[i].items() if j in sound} for i in lossy}
    theirs, inside = {i: t for i, t in inside.items() if i in known}, {i: t for i, t in inside.items() if i in sound}
    silent = tuple(
        (i, j)
        for i in sorted(inside)
        for j, t in inside[i].items()
        if i < j and not t.passed and _path_like(inside, i, j)
    )
    for i, j in silent:
        del inside[i][j], inside[j][i]
    rates = _peel(inside)
    fits = {i: _best(ties, rates) for i, ties in theirs.items()}
    told = {i: rate for i, (gain, rate) in fits.items() if gain > _GAIN}
    partners = {i: tuple(j for j, t in inside[i].items() if t.lost) for i in rates}
    sure = {i: x for i, x in rates.items() if _convincing(i, inside, rates, len(partners[i]))}
    strange = {
        (i, j): chance
        for i in sorted(inside)
        for j, t in inside[i].items()
        if i < j and t.lost and (chance := _chance(t, sure.get(i, 0.0), sure.get(j, 0.0))) < _STRANGE
    }
    return Losses(
        rates={**sure, **told},
        partners={
            **{i: partners[i] for i in sure},
            **{i: tuple(j for j, t in theirs[i].items() if t.lost) for i in told},
        },
        split=frozenset(i for i, x in sure.items() if _split(inside[i], x)),
        strange=strange,
        silent_pairs=silent,
    )


def survival(a: float, b: float) -> float:
    """Return the chance that a packet and its echo come back between two devices with these losses."""
    return (1 - a) * (1 - b) * (1 - _BACKGROUND)


def _convincing(i: int, inside: Ties, rates: Mapping[int, float], partners: int) -> bool:
    if partners != _PARTNERS:
        return partners > _PARTNERS
    return _best(inside[i], {j: x for j, x in rates.items() if j != i})[0] > _GAIN_OF_TWO


def _split(ties: Mapping[int, Tally], x: float) -> bool:
    """Tell whether each partner gets all or nothing where chance would give some of them a part.

    A wrong netmask and a filter look like that; a bad cable does not.
    """
    if any(t.passed and t.lost for t in ties.values()) or all(t.passed for t in ties.values()):
        return False
    return math.prod(x**t.sent + (1 - x) ** t.sent for t in ties.values()) < _BACKGROUND


def _path_like(inside: Ties, i: int, j: int) -> bool:
    return all(_well(inside[x], without=y) for x, y in ((i, j), (j, i)))


def _well(ties: Mapping[int, Tally], *, without: int) -> bool:
    others = [t.passed for j, t in ties.items() if j != without]
    return bool(others) and sum(others) >= _ELSEWHERE * len(others)


def _peel(inside: Ties) -> dict[int, float]:
    rates: dict[int, float] = {}
    waiting = {i: _best(inside[i], rates) for i in inside if any(t.lost for t in inside[i].values())}
    for _ in range(4 * len(waiting)):  # each device may come back a few times; peeling ends, whatever the numbers
        i, (gain, rate) = max(waiting.items(), key=lambda kv: (kv[1][0], -kv[0]), default=(0, (0.0, 0.0)))
        if gain <= _GAIN:
            break
        rates[i] = rate
        del waiting[i]
        for j in inside[i]:
            if j in rates:
                _refit(j, inside, rates, waiting)
            elif j in waiting:
                waiting[j] = _best(inside[j], rates)
    return rates


def _refit(j: int, inside: Ties, rates: dict[int, float], waiting: dict[int, tuple[float, float]]) -> None:
    """Judge a blamed device again now that a partner took its share; let it go if little is left."""
    gain, rate = _best(inside[j], {k: x for k, x in rates.items() if k != j})
    if gain > _GAIN:
        rates[j] = rate
    else:
        del rates[j]
        waiting[j] = (gain, rate)


def _best(ties: Mapping[int, Tally], rates: Mapping[int, float]) -> tuple[float, float]:
    """Return the gain of the loss rate that explains a device's probes best, and that rate."""
    by_partner: dict[float, tuple[int, int]] = {}
    for j, t in ties.items():
        rate = rates.get(j, 0.0)
        received, lost = by_partner.get(rate, (0, 0))
        by_partner[rate] = (received + t.received, lost + t.sent - t.received)
    clean = _likelihood(by_partner, 0.0)
    return max((_likelihood(by_partner, x) - clean, x) for x in _GRID)


def _likelihood(by_partner: Mapping[float, tuple[int, int]], x: float) -> float:
    """Return the log-likelihood of what came back and what did not, summed up by the partners' own loss."""
    total = 0.0
    for rate, (received, lost) in by_partner.items():
        kept, gone = _logs(x, rate)
        total += received * kept + lost * gone
    return total


@cache
def _logs(a: float, b: float) -> tuple[float, float]:
    s = survival(a, b)
    return math.log(s), math.log(1 - s)


def _chance(t: Tally, a: float, b: float) -> float:
    """Return the chance of losing as many packets or more."""
    p = 1 - survival(a, b)
    below = sum(math.comb(t.sent, k) * p**k * (1 - p) ** (t.sent - k) for k in range(t.lost))
    return max(0.0, 1 - below)
