"""What all probes of each pair came to, and which devices were probed among each other."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankready.mesh.probe import ProbeResult
    from rankready.model.place import Place


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


@dataclass(frozen=True, slots=True)
class Universe:
    """Devices joined by probes, whatever came of these. Inside, a device is its number in ``places``."""

    places: tuple[Place, ...]
    ties: tuple[Mapping[int, Tally], ...]

    def numbered(self, places: Iterable[Place]) -> frozenset[int]:
        """Return the numbers of those places that are in here."""
        wanted = frozenset(places)
        return frozenset(i for i, place in enumerate(self.places) if place in wanted)

    def passing(self, i: int) -> bool:
        """Tell whether anything passes at a device."""
        return any(t.passed for t in self.ties[i].values())


def universes(results: Sequence[ProbeResult]) -> tuple[Universe, ...]:
    """Sum up the probes that were made, pair by pair; a call with a gap is left out: it says nothing of the network.

    Each group of devices that probes join is one universe: nothing is known between two of them.
    """
    order: dict[Place, int] = {}
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for result in results:
        if result.gap is not None or result.sent <= 0:
            continue
        a = order.setdefault(result.probe.source, len(order))
        b = order.setdefault(result.probe.target, len(order))
        key = (a, b) if a < b else (b, a)
        sent, received = sums.get(key, (0, 0))
        sums[key] = (sent + result.sent, received + min(result.received, result.sent))
    ties: list[dict[int, Tally]] = [{} for _ in order]
    for (a, b), (sent, received) in sums.items():
        ties[a][b] = ties[b][a] = Tally(sent, received)
    places = tuple(order)
    found = (_universe(members, places, ties) for members in components(ties))
    return tuple(sorted(found, key=lambda u: u.places[0]))


def components(ties: Sequence[Mapping[int, Tally]], *, passed: bool = False) -> tuple[tuple[int, ...], ...]:
    """Return the groups that ties join (only those that passed, if so asked), each sorted, in order of their first."""
    seen: set[int] = set()
    groups: list[tuple[int, ...]] = []
    for start in range(len(ties)):
        if start in seen:
            continue
        seen.add(start)
        group, waiting = [start], [start]
        while waiting:
            for j, tie in ties[waiting.pop()].items():
                if j not in seen and (tie.passed or not passed):
                    seen.add(j)
                    group.append(j)
                    waiting.append(j)
        groups.append(tuple(sorted(group)))
    return tuple(groups)


def _universe(members: tuple[int, ...], places: Sequence[Place], ties: Sequence[Mapping[int, Tally]]) -> Universe:
    ordered = sorted(members, key=places.__getitem__)
    number = {old: new for new, old in enumerate(ordered)}
    return Universe(
        places=tuple(places[old] for old in ordered),
        ties=tuple(dict(sorted(((number[j], t) for j, t in ties[old].items()), key=itemgetter(0))) for old in ordered),
    )
