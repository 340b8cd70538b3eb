"""Who pings whom, and when: as few rounds as the limits allow (facts/mesh 3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from rankready.mesh.order import shift_order
from rankready.mesh.probe import Mode, Probe
from rankready.mesh.reach import Rail, pairs, probe
from rankready.mesh.references import references
from rankready.mesh.rounds import Rounds, pack

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Sized

    from rankready.kind.product import Product
    from rankready.mesh.probe import Exclusion
    from rankready.mesh.reach import Group
    from rankready.mesh.rounds import Round, Unit
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
    per_device: int = 1

    def shifts(self, size: int) -> tuple[int, ...]:
        """Return the shifts that a group of this size walks, in order; the half-way one comes last."""
        return shifts_of(size, self.mode, self.leaf, self.sparse_k) if size > 1 else ()

    def halved(self, size: int) -> bool:
        """Tell whether a group meets each pair of its last shift from both ends, so that one end's call will do."""
        return self.mode is not Mode.DIRECTED and 2 * next(reversed(self.shifts(size)), 0) == size > 1

    def planned(self, size: int) -> int:
        """Return how many calls a group makes in all."""
        return size * len(self.shifts(size)) - (size // 2 if self.halved(size) else 0)

    def far(self, size: int, i: int, unit: Unit) -> int | None:
        """Return whom the ``i``-th device of a group calls in this unit; None where it only answers."""
        shifts = self.shifts(size)
        if unit.step >= len(shifts):
            return None
        shift = shifts[unit.step]
        if self.mode is not Mode.DIRECTED and 2 * shift == size and only_answers(i, size, unit.rail):
            return None
        return (i + shift) % size

    def targets(self, size: int, i: int, rail: int) -> int:
        """Return as bits whom the ``i``-th device of a group calls, over the whole schedule."""
        skip = self.halved(size) and only_answers(i, size, rail)
        ahead = _ahead(size, self, skip=skip) << i
        return (ahead | ahead >> size) & ((1 << size) - 1)


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What is to be probed. A server's own calls are computed, never stored: 4,096 servers have 67 million pairs.

    ``steps``: the rounds of rail probes. ``planned`` counts these; ``references`` are extra probes between rails of one
    segment, made where a rail is too short to tell which end of a pair is at fault. ``bound``: no schedule within the
    same limits has fewer rounds.
    """

    cluster: Cluster
    terms: Terms
    rails: Rails
    steps: Sequence[Round]
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
        """Every round with all its probes, written out: for tests and small clusters."""
        return (*(tuple(self._round(units)) for units in self.steps), *self.references)

    def calls(self, server: str) -> Iterator[Probe]:
        """Yield one server's calls in order; O(1) memory, for servers that walk their own list."""
        seats = self.seats(server)
        for units in self.steps:
            for unit in units:
                for group, i in seats.get(unit.rail, ()):
                    if (far := self.terms.far(len(group), i, unit)) is not None:
                        yield probe(self.cluster, group[i], group[far])
        for extra in self.references:
            yield from (p for p in extra if p.source.name == server)

    def calls_of(self, server: str) -> int:
        """Return how many calls a server makes, without walking them."""
        return sum(
            len(shifts) - (self.terms.halved(len(group)) and only_answers(i, len(group), rail))
            for rail, seats in self.seats(server).items()
            for group, i in seats
            if (shifts := self.terms.shifts(len(group)))
        ) + sum(p.source.name == server for extra in self.references for p in extra)

    def required(self) -> Iterator[tuple[Place, Place]]:
        """Yield (source, target) of every planned rail probe."""
        for units in self.steps:
            yield from ((p.source, p.target) for p in self._round(units))

    def seats(self, server: str) -> dict[int, list[tuple[Group, int]]]:
        """Return where a server's devices stand: for each rail the groups and their numbers in these."""
        number = self._numbers[server]
        found: dict[int, list[tuple[Group, int]]] = {}
        for rail, groups in enumerate(self.rails):
            for group in groups:
                if isinstance(group, Rail) and (seat := group.seat(number)) is not None:
                    found.setdefault(rail, []).append((group, seat))
        for rail, group, i in self._fibres.get(server, ()):
            found.setdefault(rail, []).append((group, i))
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {s.name: n for n, s in enumerate(self.cluster.servers)}

    @cached_property
    def _fibres(self) -> dict[str, list[tuple[int, Group, int]]]:
        found: dict[str, list[tuple[int, Group, int]]] = {}
        for rail, groups in enumerate(self.rails):
            for group in groups:
                for i, device in enumerate(() if isinstance(group, Rail) else group):
                    found.setdefault(device.name, []).append((rail, group, i))
        return found

    def _round(self, units: Round) -> Iterator[Probe]:
        for unit in units:
            for group in self.rails[unit.rail]:
                for i, device in enumerate(group):
                    far = self.terms.far(len(group), i, unit)
                    if far is not None:
                        yield probe(self.cluster, device, group[far])


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
    steps = rounds_of(reach.rails, terms)
    return Schedule(
        cluster=cluster,
        terms=terms,
        rails=reach.rails,
        steps=steps,
        planned=sum(terms.planned(len(group)) for groups in reach.rails for group in groups),
        bound=steps.least if isinstance(steps, Rounds) and not extra else _bound(reach.rails, terms, extra),
        references=extra,
        excluded=reach.excluded,
    )


def only_answers(i: int, size: int, rail: int) -> bool:
    """Half-way round, every pair is met from both ends: on even rails the first half calls, on odd the second."""
    return (i < size // 2) is bool(rail % 2)


@lru_cache(maxsize=64)
def _ahead(size: int, terms: Terms, *, skip: bool) -> int:
    shifts = terms.shifts(size)
    return sum(1 << s for s in (shifts[:-1] if skip else shifts))


@lru_cache(maxsize=64)
def shifts_of(size: int, mode: Mode, leaf: int, sparse_k: int) -> tuple[int, ...]:
    """Return the shifts of a group, the half-way one last where its pairs are met from both ends."""
    order = shift_order(size, leaf)
    if mode is Mode.DIRECTED:
        return (*order, *(size - s for s in order if 2 * s != size))
    chosen = order[:sparse_k] if mode is Mode.SPARSE else order
    return tuple(sorted(chosen, key=lambda s: 2 * s == size))


def rounds_of(rails: Sequence[Sequence[Sized]], terms: Terms) -> Rounds | tuple[Round, ...]:
    """Return the rounds; where all rails are alike they are computed as they are asked for."""
    sizes = {len(g) for groups in rails for g in groups}
    if len(sizes) == 1 and all(len(groups) == 1 for groups in rails):
        (size,) = sizes
        half = terms.halved(size)
        full = len(terms.shifts(size)) - half
        return Rounds(rails=len(rails), full=full, half=half, per_host=terms.per_host, per_device=terms.per_device)
    return pack([max((len(terms.shifts(len(g))) for g in groups), default=0) for groups in rails], terms.per_host)


def _bound(rails: Rails, terms: Terms, extra: References) -> int:
    """Return what no schedule within the limits can beat: the busiest host's calls, the busiest device's ends."""
    hosts: Counter[str] = Counter()
    ends: Counter[tuple[str, Place]] = Counter()
    for rail, groups in enumerate(rails):
        for group in groups:
            size = len(group)
            shifts, halved = len(terms.shifts(size)), terms.halved(size)
            for i, device in enumerate(group):
                made = shifts - (halved and only_answers(i, size, rail))
                hosts[device.name] += made
                ends["out", device] += made
                ends["in", device] += shifts - (halved and only_answers((i + size // 2) % size, size, rail))
    for probes in extra:
        hosts.update(p.source.name for p in probes)
        ends.update(("out", p.source) for p in probes)
        ends.update(("in", p.target) for p in probes)
    most = max(hosts.values(), default=0)
    return max(-(-most // terms.per_host), max(ends.values(), default=0))
