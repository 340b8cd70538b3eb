"""What all probes of each pair came to, and which devices were probed among each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from rankready.mesh.bits import numbers, transposed
from rankready.mesh.ledger import PACKETS, Ledger

if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterable, Iterator, Sequence, ValuesView

    from rankready.mesh.ledger import Block
    from rankready.mesh.probe import ProbeResult
    from rankready.model.place import Place


Sums = dict[tuple[int, int], tuple[int, int]]
"""Packets sent and received by pair; devices by number, the lower one first."""


@dataclass(frozen=True, slots=True)
class Tally:
    """Packets of one pair, both directions together: an echo that fails does not tell its direction (facts/mesh I7)."""

    sent: int
    received: int

    @property
    def passed(self) -> bool:
        """One packet and its echo came through: the pair is connected."""
        return self.received > 0

    @property
    def lost(self) -> int:
        """Packets without an echo."""
        return self.sent - self.received


class Ties(Mapping[int, Tally]):
    """What one device came to with each of its partners, by their numbers, ascending.

    Pairs that came to the same are a bit each; ``others`` are those that have a tally of their own.
    """

    __slots__ = ("_alike", "_others", "joined", "lossy", "passing")

    def __init__(self, alike: Iterable[tuple[Tally, int]] = (), others: Mapping[int, Tally] | None = None) -> None:
        """Take tallies with the bits of the partners that came to just that, and single ones."""
        self._alike = tuple((tally, row) for tally, row in alike if row)
        self._others = others or {}
        joined = passing = lossy = 0
        for tally, row in self._alike:
            joined |= row
            passing |= row if tally.received else 0
            lossy |= row if tally.received < tally.sent else 0
        for j, tally in self._others.items():
            bit = 1 << j
            joined |= bit
            passing |= bit if tally.received else 0
            lossy |= bit if tally.received < tally.sent else 0
        self.joined, self.passing, self.lossy = joined, passing, lossy

    def __getitem__(self, j: int) -> Tally:
        """Return what came of a partner; raises KeyError."""
        if j in self._others:
            return self._others[j]
        return next((tally for tally, row in self._alike if row >> j & 1), None) or self._others[j]

    def __contains__(self, j: object) -> bool:
        """Tell whether a device is a partner."""
        return isinstance(j, int) and j >= 0 and bool(self.joined >> j & 1)

    def __len__(self) -> int:
        """Return how many partners there are."""
        return self.joined.bit_count()

    def __iter__(self) -> Iterator[int]:
        """Yield the partners' numbers."""
        return numbers(self.joined)

    def items(self) -> ItemsView[int, Tally]:
        """Return partners with what came of them."""
        if not self._alike:
            return self._others.items()
        found = [(j, tally) for tally, row in self._alike for j in numbers(row)]
        return dict(sorted((*found, *self._others.items()), key=itemgetter(0))).items()

    def values(self) -> ValuesView[Tally]:
        """Return what came of each partner."""
        return dict(self.items()).values()

    def renumbered(self, number: Mapping[int, int]) -> Ties:
        """Return the same under other numbers; who has none is left out."""
        alike = [(tally, sum(1 << number[j] for j in numbers(row) if j in number)) for tally, row in self._alike]
        others = {number[j]: tally for j, tally in self._others.items() if j in number}
        return Ties(alike, dict(sorted(others.items())))


@dataclass(frozen=True, slots=True)
class Universe:
    """Devices joined by probes, whatever came of these. Inside, a device is its number in ``places``."""

    places: tuple[Place, ...]
    ties: tuple[Ties, ...]

    def numbered(self, places: Iterable[Place]) -> frozenset[int]:
        """Return the numbers of those places that are in here."""
        wanted = frozenset(places)
        return frozenset(i for i, place in enumerate(self.places) if place in wanted)

    def passing(self, i: int) -> bool:
        """Tell whether anything passes at a device."""
        return self.ties[i].passing != 0

    def lossless(self, i: int) -> bool:
        """Tell whether no packet was lost at a device."""
        return self.ties[i].lossy == 0


def universes(results: Sequence[ProbeResult]) -> tuple[Universe, ...]:
    """Sum up the probes that were made, pair by pair; a call with a gap is left out: it says nothing of the network.

    Each group of devices that probes join is one universe: nothing is known between two of them. Devices in cluster
    order where the results are a ledger's, else by name.
    """
    if not isinstance(results, Ledger):
        return _sorted(_split(*_table((), *_summed((), results))))
    blocks = [b for b in results.blocks if any(b.passed) or any(b.silent)]
    places, sums = _summed([device for block in blocks for device in block.group], results.listed())
    found: list[Universe] = []
    for some, own, pairs in _joined(blocks, places, sums):
        found += _split(*_table(some, own, pairs))
    return _sorted(found)


def _sorted(found: Iterable[Universe]) -> tuple[Universe, ...]:
    return tuple(sorted(found, key=lambda u: u.places[0]))


def _summed(known: Sequence[Place], results: Iterable[ProbeResult]) -> tuple[list[Place], Sums]:
    """Number the devices, those known first and the others by name, and sum up what came of each pair."""
    order = {place: n for n, place in enumerate(known)}
    sums: Sums = {}
    for r in results:
        if r.gap is not None or r.sent <= 0:
            continue
        a = order.setdefault(r.probe.source, len(order))
        b = order.setdefault(r.probe.target, len(order))
        key = (a, b) if a < b else (b, a)
        sent, received = sums.get(key, (0, 0))
        sums[key] = (sent + r.sent, received + min(r.received, r.sent))
    seen = list(order)
    ranked = [*range(len(known)), *sorted(range(len(known), len(seen)), key=seen.__getitem__)]
    number = {old: new for new, old in enumerate(ranked)}
    return [seen[n] for n in ranked], {(number[a], number[b]): both for (a, b), both in sums.items()}


def components(ties: Sequence[Ties], *, passed: bool = False) -> tuple[tuple[int, ...], ...]:
    """Return the groups that ties join (only those that passed, if so asked), each sorted, in order of their first."""
    rows = [t.passing if passed else t.joined for t in ties]
    groups: list[tuple[int, ...]] = []
    left = (1 << len(rows)) - 1
    while left:
        group = new = left & -left
        while new:
            reached = 0
            for i in numbers(new):
                reached |= rows[i]
            new = reached & ~group
            group |= new
        left &= ~group
        groups.append(tuple(numbers(group)))
    return tuple(groups)


def _joined(
    blocks: Sequence[Block], places: Sequence[Place], sums: Sums
) -> Iterator[tuple[list[Block], list[Place], Sums]]:
    """Yield blocks, single devices and pairs that belong together, numbered anew: most blocks stand alone."""
    home = [n for n, block in enumerate(blocks) for _ in block.group]
    home += range(len(blocks), len(blocks) + len(places) - len(home))  # a single device is its own home
    rows = [1 << n for n in range(home[-1] + 1)] if home else []
    for a, b in sums:
        rows[home[a]] |= 1 << home[b]
        rows[home[b]] |= 1 << home[a]
    group_of = {n: g for g, members in enumerate(components([Ties([(_ONE, row)]) for row in rows])) for n in members}
    members: dict[int, list[int]] = defaultdict(list)
    for n, where in enumerate(home):
        members[group_of[where]].append(n)
    pairs: dict[int, Sums] = defaultdict(dict)
    for (a, b), both in sums.items():
        pairs[group_of[home[a]]][a, b] = both
    for g, own in members.items():
        number = {old: new for new, old in enumerate(own)}
        some = [blocks[n] for n in dict.fromkeys(home[old] for old in own) if n < len(blocks)]
        yield some, [places[old] for old in own], {(number[a], number[b]): v for (a, b), v in pairs[g].items()}


def _table(blocks: Sequence[Block], places: Sequence[Place], sums: Sums) -> tuple[tuple[Place, ...], list[Ties]]:
    """Return what each device came to with each: those of the blocks come first."""
    rows = _Rows([0] * len(places) for _ in range(4))
    base = 0
    for block in blocks:
        for which, table in enumerate((block.passed, transposed(block.passed), block.silent, transposed(block.silent))):
            rows.put(which, table, base)
        base += len(block.group)
    others: list[dict[int, Tally]] = [{} for _ in places]
    for (a, b), (sent, received) in sums.items():
        known = rows.take(a, b) if blocks else _NOTHING
        others[a][b] = others[b][a] = Tally(sent + known.sent, received + known.received)
    alike = rows.alike if blocks else _nobody
    return tuple(places), [Ties(alike(i), dict(sorted(others[i].items()))) for i in range(len(places))]


def _nobody(_device: int) -> tuple[tuple[Tally, int], ...]:
    return ()


class _Rows:
    """Four bits for each ordered pair: passed as caller, passed as target, silent as caller, silent as target."""

    def __init__(self, tables: Iterable[list[int]]) -> None:
        self.tables = tuple(tables)

    def put(self, which: int, rows: Sequence[int], base: int) -> None:
        for i, row in enumerate(rows):
            self.tables[which][base + i] = row << base

    def take(self, a: int, b: int) -> Tally:
        """Return what the bits say of a pair, and clear them: the pair gets a tally of its own."""
        bits = [table[a] >> b & 1 for table in self.tables]
        for table in self.tables:
            table[a] &= ~(1 << b)
            table[b] &= ~(1 << a)
        return Tally(PACKETS * sum(bits), PACKETS * (bits[0] + bits[1]))

    def alike(self, i: int) -> tuple[tuple[Tally, int], ...]:
        """Return the partners of a device by what they came to."""
        out, in_, lost, unheard = (table[i] for table in self.tables)
        some, none = out | in_, lost | unheard
        return (
            (_BOTH, out & in_),
            (_ONE, (out ^ in_) & ~none),
            (_MIXED, some & none),
            (_NONE, (lost ^ unheard) & ~some),
            (_NEITHER, lost & unheard),
        )


_BOTH, _ONE, _MIXED = Tally(2 * PACKETS, 2 * PACKETS), Tally(PACKETS, PACKETS), Tally(2 * PACKETS, PACKETS)
_NONE, _NEITHER, _NOTHING = Tally(PACKETS, 0), Tally(2 * PACKETS, 0), Tally(0, 0)


def _split(places: tuple[Place, ...], ties: list[Ties]) -> Iterator[Universe]:
    """Yield what is joined; a device that nobody probed belongs nowhere."""
    for members in components(ties):
        if len(members) == len(places):
            yield Universe(places=places, ties=tuple(ties))
        elif len(members) > 1:
            number = {old: new for new, old in enumerate(members)}
            yield Universe(
                places=tuple(places[old] for old in members),
                ties=tuple(ties[old].renumbered(number) for old in members),
            )
