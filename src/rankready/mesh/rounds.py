"""Pack the shifts of all rails into as few rounds as the limits of a host and of a device allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload


class Unit(NamedTuple):
    """The ``step``-th shift of one rail: each of its devices calls at most once and is called at most once."""

    step: int
    rail: int


Round = tuple[Unit, ...]


@dataclass(frozen=True, kw_only=True)
class Rounds(Sequence[Round]):
    """The rounds of ``rails`` rails that are all alike, by arithmetic: nothing is stored, however many there are.

    ``full``: shifts in which every device calls. ``half``: one more, half-way round, where every pair is met from both
    ends: half of the hosts call on one rail and the others on the next, so that two rails cost a host one call.
    ``per_host``, ``per_device``: calls at a time.

    The rails go on side by side, shift by shift, so that every prefix treats them alike. Only the last few shifts are
    dealt out otherwise, where that saves a round: each pair of rails in turn, to the rounds in turn. Reaches
    ``max(⌈slots/H⌉, ⌈shifts/c⌉)``, which no schedule can beat (facts/mesh 3, T1, T2, T2c, T4, T5, T5d).
    """

    rails: int
    full: int
    half: bool
    per_host: int
    per_device: int = 1

    def __len__(self) -> int:
        """Return how many rounds there are."""
        return self._plain + self._dealt_rounds

    @overload
    def __getitem__(self, index: int) -> Round: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Round, ...]: ...
    def __getitem__(self, index: int | slice) -> Round | tuple[Round, ...]:
        """Return the units of one round."""
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        at = range(len(self))[index]
        if at >= self._plain:
            return self._tail[at - self._plain]
        last = min((at + 1) * self._at_once, self.rails * self._steps)
        return tuple(Unit(*divmod(k, self.rails)) for k in range(at * self._at_once, last))

    @property
    def _at_once(self) -> int:
        return max(1, min(self.per_host, self.rails * self.per_device))

    @property
    def least(self) -> int:
        """Return what no schedule within the limits can beat."""
        return self._least(self.full)

    def _least(self, full: int) -> int:
        slots = self.rails * full + self.half * -(-self.rails // 2)
        return max(-(-slots // self._at_once), -(-(full + self.half) // self.per_device)) if self.rails else 0

    @cached_property
    def _dealt(self) -> int:
        """Return how many of the last full shifts are dealt out together with the half one; as few as will do."""
        if not self.half:
            return 0
        for dealt in range(self.full):
            slots = self.rails * (self.full - dealt)
            if slots % self._at_once == 0 and slots // self._at_once + self._least(dealt) == self.least:
                return dealt
        return self.full

    @cached_property
    def _steps(self) -> int:
        return self.full - self._dealt

    @cached_property
    def _plain(self) -> int:
        return -(-self.rails * self._steps // self._at_once)

    @cached_property
    def _dealt_rounds(self) -> int:
        return self._least(self._dealt) if self.half else 0

    @cached_property
    def _tail(self) -> tuple[Round, ...]:
        """Deal the slots to the rounds in turn: those of one rail lie side by side, so no round gets two too many."""
        rounds: list[list[int]] = [[] for _ in range(self._dealt_rounds)]
        halves: list[Round] = []
        for rail in range(0, self.rails, 2):
            both = range(rail, min(rail + 2, self.rails))
            halves.append(tuple(Unit(self.full, r) for r in both))
            order = [rail] * self._dealt + [-len(halves)] + [rail + 1] * (self._dealt if len(both) > 1 else 0)
            begin = rail * self._dealt + rail // 2
            for k, what in enumerate(order, start=begin):
                rounds[k % self._dealt_rounds].append(what)
        done = [self._steps] * self.rails
        return tuple(tuple(u for what in r for u in _units(what, halves, done)) for r in rounds)


def _units(what: int, halves: Sequence[Round], done: list[int]) -> Round:
    """Return a half-way slot, or the next shift of a rail."""
    if what < 0:
        return halves[-what - 1]
    done[what] += 1
    return (Unit(done[what] - 1, what),)


def pack(lengths: Sequence[int], per_host: int) -> tuple[Round, ...]:
    """Put up to ``per_host`` rails of unequal lengths into each round, the longest first."""
    left = list(lengths)
    rounds: list[Round] = []
    while any(left):
        free = sorted((r for r, n in enumerate(left) if n), key=lambda r: (-left[r], r))[:per_host]
        rounds.append(tuple(Unit(lengths[r] - left[r], r) for r in free))
        for r in free:
            left[r] -= 1
    return tuple(rounds)
