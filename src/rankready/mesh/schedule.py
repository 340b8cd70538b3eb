"""Who pings whom, and when: as few rounds as the limits allow (facts/mesh 3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from rankready.mesh.order import shift_order
from rankready.mesh.probe import Mode, Probe
from rankready.mesh.reach import pairs, probe
from rankready.mesh.references import references
from rankready.mesh.rounds import Unit, pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.product import Product
    from rankready.mesh.probe import Exclusion
    from rankready.mesh.reach import Group
    from rankready.mesh.rounds import Slot
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

PROOF_SERVERS = 32  # up to here every ordered pair is proven within minutes (facts/mesh 6)
SPARSE_K = 8

Rails = tuple[tuple["Group", ...], ...]
References = tuple[tuple[Probe, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a schedule keeps to: mode, calls of one host at a time, devices of a rail on one leaf (0: not known)."""

    mode: Mode
    per_host: int
    sparse_k: int
    leaf: int

    def shifts(self, size: int) -> tuple[int, ...]:
        """Return the shifts that a group of this size walks, in order."""
        found = _shifts(size, self.mode, self.leaf) if size > 1 else ()
        return found[: self.sparse_k] if self.mode is Mode.SPARSE else found

    def calls(self, size: int, rail: int) -> list[int]:
        """Return how often each device of a group calls; as often it is called."""
        shifts = self.shifts(size)
        half = self.mode is not Mode.DIRECTED and any(2 * s == size for s in shifts)
        return [len(shifts) - (half and _only_answers(i, size, rail)) for i in range(size)]


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What is to be probed. A server's own calls are computed, never stored: 4,096 servers have 67 million pairs.

    ``planned`` counts the rail probes; ``references`` are extra probes between rails of one segment, made where a rail
    is too short to tell which end of a pair is at fault. ``bound``: no schedule within the same limits has fewer
    rounds.
    """

    cluster: Cluster
    terms: Terms
    rails: Rails
    steps: tuple[tuple[Unit, ...], ...]
    planned: int
    bound: int
    references: References = ()
    excluded: tuple[Exclusion, ...] = ()

    @property
    def mode(self) -> Mode:
        """What this schedule proves."""
        return self.terms.mode

    @cached_property
    def rounds(self) -> tuple[tuple[Probe, ...], ...]:
        """Every round with all its probes; each device calls at most once and is called at most once in it."""
        return (*(tuple(self._round(units)) for units in self.steps), *self.references)

    def calls(self, server: str) -> Iterator[Probe]:
        """Yield one server's calls in order; O(1) memory, for servers that walk their own list."""
        for units in self.steps:
            for unit in units:
                seat = self._seats.get((server, unit.rail))
                if seat is not None and (far := self._far(seat[0], seat[1], unit)) is not None:
                    yield probe(self.cluster, seat[0][seat[1]], seat[0][far])
        for extra in self.references:
            yield from (p for p in extra if p.source.name == server)

    def required(self) -> Iterator[tuple[Place, Place]]:
        """Yield (source, target) of every planned rail probe."""
        for units in self.steps:
            yield from ((p.source, p.target) for p in self._round(units))

    @cached_property
    def _seats(self) -> dict[tuple[str, int], tuple[Group, int]]:
        return {
            (device.name, rail): (group, i)
            for rail, groups in enumerate(self.rails)
            for group in groups
            for i, device in enumerate(group)
        }

    def _round(self, units: tuple[Unit, ...]) -> Iterator[Probe]:
        for unit in units:
            for group in self.rails[unit.rail]:
                for i, device in enumerate(group):
                    far = self._far(group, i, unit)
                    if far is not None:
                        yield probe(self.cluster, device, group[far])

    def _far(self, group: Group, i: int, unit: Unit) -> int | None:
        """Whom the ``i``-th device of a group calls in this unit; None where it only answers."""
        size = len(group)
        shifts = self.terms.shifts(size)
        if unit.step >= len(shifts):
            return None
        shift = shifts[unit.step]
        if self.mode is not Mode.DIRECTED and 2 * shift == size and _only_answers(i, size, unit.rail):
            return None
        return (i + shift) % size


def default_mode(cluster: Cluster) -> Mode:
    """Return DIRECTED while a full proof takes minutes, SPARSE beyond."""
    return Mode.DIRECTED if len(cluster.servers) <= PROOF_SERVERS else Mode.SPARSE


def schedule(  # noqa: PLR0913  (what to schedule, and four terms that are all named)
    cluster: Cluster,
    product: Product,
    *,
    mode: Mode | None = None,
    sparse_k: int = SPARSE_K,
    per_host: int = 1,
    leaf: int = 0,
) -> Schedule:
    """Plan the probes of all rails.

    ``per_host``: calls that one server makes at a time (1 until measured, facts/mesh 5). ``leaf``: devices of one rail
    on one leaf, where known. Sparse takes the first ``sparse_k`` shifts of every rail.
    """
    terms = Terms(mode=mode or default_mode(cluster), per_host=per_host, sparse_k=sparse_k, leaf=leaf)
    reach = pairs(cluster, product)
    extra = references(cluster, product, reach.rails, per_host=per_host)
    return Schedule(
        cluster=cluster,
        terms=terms,
        rails=reach.rails,
        steps=pack(_slots(reach.rails, terms), per_host),
        planned=sum(sum(terms.calls(len(g), rail)) for rail, groups in enumerate(reach.rails) for g in groups),
        bound=_bound(reach.rails, terms, extra),
        references=extra,
        excluded=reach.excluded,
    )


@lru_cache(maxsize=64)
def _shifts(size: int, mode: Mode, leaf: int) -> tuple[int, ...]:
    order = shift_order(size, leaf)
    if mode is not Mode.DIRECTED:
        return order
    return (*order, *(size - s for s in order if 2 * s != size))


def _only_answers(i: int, size: int, rail: int) -> bool:
    """Half-way round, every pair is met from both ends: on even rails the first half calls, on odd the second."""
    return (i < size // 2) is bool(rail % 2)


def _slots(rails: Rails, terms: Terms) -> list[Slot]:
    """List what must be done, shift by shift; where all rails are alike, two share the slot of the half-way shift."""
    lengths = [max((len(terms.shifts(len(g))) for g in groups), default=0) for groups in rails]
    sizes = {len(g) for groups in rails for g in groups}
    alike = sizes.pop() if len(sizes) == 1 and all(len(groups) == 1 for groups in rails) else 0
    slots: list[Slot] = []
    for step in range(max(lengths, default=0)):
        units = [Unit(step, rail) for rail, length in enumerate(lengths) if step < length]
        if alike and terms.mode is not Mode.DIRECTED and 2 * terms.shifts(alike)[step] == alike:
            slots += [tuple(units[i : i + 2]) for i in range(0, len(units), 2)]
        else:
            slots += [(unit,) for unit in units]
    return slots


def _bound(rails: Rails, terms: Terms, extra: References) -> int:
    """Return what no schedule within the limits can beat: the busiest host's calls, the busiest device's ends."""
    hosts: Counter[str] = Counter()
    ends: Counter[tuple[str, Place]] = Counter()
    for rail, groups in enumerate(rails):
        for group in groups:
            calls = terms.calls(len(group), rail)
            for i, device in enumerate(group):
                hosts[device.name] += calls[i]
                ends["out", device] += calls[i]
                ends["in", device] += calls[(i + len(group) // 2) % len(group)]
    for probes in extra:
        hosts.update(p.source.name for p in probes)
        ends.update(("out", p.source) for p in probes)
        ends.update(("in", p.target) for p in probes)
    most = max(hosts.values(), default=0)
    return max(-(-most // terms.per_host), max(ends.values(), default=0))
