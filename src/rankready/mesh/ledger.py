"""What came of every probe: two bits for a planned one that passed or was lost, a record for any other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, overload

from rankready.mesh.bits import numbers, transposed
from rankready.mesh.probe import ProbeResult
from rankready.mesh.reach import probe
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from rankready.mesh.reach import Group
    from rankready.mesh.schedule import Schedule, Terms
    from rankready.model.place import Place

PACKETS = 3  # of one call (facts/hccn 3.1)
NOT_PROBED = Gap("not probed", zh="未探测")
_MOST_GAPS = 10_000  # kept call by call; beyond, a reason is kept for each device that called


@dataclass(slots=True)
class Block:
    """The calls of one group of devices that all reach each other. Row ``i``: a bit for each device that ``i`` called.

    ``passed``: every packet came back. ``silent``: none did. ``partly``: calls with another answer.
    """

    group: Group
    planned: Sequence[int]
    passed: list[int]
    silent: list[int]
    partly: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def known(self, i: int, j: int) -> bool:
        """Tell whether a planned call has its answer."""
        return bool((self.passed[i] | self.silent[i]) >> j & 1) or (i, j) in self.partly

    def mask(self, devices: Collection[Place]) -> int:
        """Return as bits which of the group these are."""
        return sum(1 << i for i, device in enumerate(self.group) if device in devices) if devices else 0

    def copy(self) -> Block:
        """Return one that can be changed without changing this."""
        return Block(self.group, self.planned, list(self.passed), list(self.silent), dict(self.partly))


class Ledger(Sequence[ProbeResult]):
    """The results of one schedule, and of calls beyond it: a sequence, and counts that need no walk through it.

    8 million results of 1,000 servers take 2 MB. Why calls were not made is kept for their device or server, not call
    by call.
    """

    def __init__(self, plan: Schedule) -> None:
        """Know nothing yet."""
        self.plan = plan
        self.blocks: list[Block] = []
        self.beyond: list[ProbeResult] = []
        self.unmade: dict[Place, Gap] = {}
        self._gaps: dict[tuple[Place, Place], Gap] = {}
        self._ends: dict[Place, Gap] = {}
        self._aside: set[tuple[Place, Place]] = set()
        self._seats: dict[Place, tuple[int, int]] = {}
        for rail, groups in enumerate(plan.rails):
            for group in groups:
                size = len(group)
                self._seats.update((device, (len(self.blocks), i)) for i, device in enumerate(group))
                planned = _Planned(plan.terms, size, rail)
                self.blocks.append(Block(group, planned, [0] * size, [0] * size))

    @classmethod
    def of(cls, plan: Schedule, results: Iterable[ProbeResult]) -> Ledger:
        """Enter results that were listed one by one."""
        ledger = cls(plan)
        for result in results:
            ledger.add(result)
        return ledger

    def add(self, result: ProbeResult) -> bool:
        """Enter a result; the first answer of a planned call stands, what comes after it is kept beside it.

        Returns whether that made a pass of a planned call, which is but a bit.
        """
        source, target = result.probe.source, result.probe.target
        at = self._planned(source, target)
        if result.gap is not None and at is not None:
            self._unmade(source, target, result.gap)
            return False
        if at is None or at[0].known(at[1], at[2]):
            self.beyond.append(result)
            self._aside.add((source, target))
            return False
        return _enter(*at, result)

    def _unmade(self, source: Place, target: Place, gap: Gap) -> None:
        if len(self._gaps) < _MOST_GAPS:
            self._gaps.setdefault((source, target), gap)
        self._ends.setdefault(source, gap)
        self._ends.setdefault(target, gap)

    def give_up(self, place: Place, gap: Gap) -> None:
        """Say why calls of or to a device, or of a server, have no answer; the first reason stands."""
        self.unmade.setdefault(place, gap)

    def known(self, source: Place, target: Place) -> bool:
        """Tell whether a planned call has its answer."""
        at = self._planned(source, target)
        return at is not None and at[0].known(at[1], at[2])

    def in_vain(self, source: Place, target: Place) -> bool:
        """Tell whether a planned call was made and could not be read."""
        return (source, target) in self._gaps

    def tried(self, a: Place, b: Place) -> bool:
        """Tell whether a call between two devices was planned, or was made beside the plan."""
        planned = self._planned(a, b) is not None or self._planned(b, a) is not None
        return planned or (a, b) in self._aside or (b, a) in self._aside

    def why(self, source: Place, target: Place) -> Gap:
        """Return why a call has no answer."""
        if (gap := self._gaps.get((source, target))) is not None:
            return gap
        places = (source, source.owner, target, self.plan.cluster.place)
        last = NOT_PROBED if len(self._gaps) < _MOST_GAPS else self._ends.get(source, NOT_PROBED)
        return next((self.unmade[p] for p in places if p in self.unmade), last)

    def reason_of_all(self, source: Place) -> str | None:
        """Return the one reason that all open calls of a device have; None where they may differ."""
        own = self.unmade.get(source) or self.unmade.get(source.owner)
        return None if own is None or source in self._ends else own.reason

    def reason(self, device: Place) -> Gap | None:
        """Return why calls with a device have no answer, as far as one is known: its own reason, else a partner's."""
        for known, place in ((self.unmade, device), (self._ends, device), (self.unmade, device.owner)):
            if place in known:
                return known[place]
        aside = (r.gap for r in self.beyond if r.gap is not None and device in (r.probe.source, r.probe.target))
        beyond = (self.unmade[p] for d in self.partners(device) for p in (d, d.owner) if p in self.unmade)
        last = (self.unmade[p] for p in (self.plan.cluster.place,) if p in self.unmade)
        return next((gap for gaps in (aside, beyond, last) for gap in gaps), None)

    def partners(self, device: Place) -> tuple[Place, ...]:
        """Return whom a device was to call, or to be called by."""
        aside = tuple(p for pair in self._aside for p in pair if device in pair and p != device)
        if device not in self._seats:
            return aside
        number, i = self._seats[device]
        block = self.blocks[number]
        callers = sum(1 << j for j, row in enumerate(block.planned) if row >> i & 1)
        return (*(block.group[j] for j in numbers(block.planned[i] | callers)), *aside)

    @property
    def packets(self) -> int:
        """How many packets were sent."""
        return PACKETS * self._bits() + sum(r.sent for r in self.listed())

    def made_by(self) -> Counter[str]:
        """Return how many planned calls of each server have an answer that is but a bit."""
        made: Counter[str] = Counter()
        for block in self.blocks:
            for device, passed, silent in zip(block.group, block.passed, block.silent, strict=True):
                made[device.name] += (passed | silent).bit_count()
        return made

    def losses(self, among: Collection[Place]) -> Iterator[ProbeResult]:
        """Yield every call among these devices that lost a packet; perhaps others too, none of them lossless."""
        for block in self.blocks:
            inside = block.mask(among)
            silent = [row & inside if inside >> i & 1 else 0 for i, row in enumerate(block.silent)]
            yield from self._calls(block, silent, 0)
        yield from (r for r in self.listed() if r.gap is None and r.received < r.sent)

    def working(self) -> set[Place]:
        """Return the devices with which something passed."""
        found = {end for r in self.listed() if r.received for end in (r.probe.source, r.probe.target)}
        for block in self.blocks:
            called = 0
            for i, row in enumerate(block.passed):
                called |= row | (bool(row) << i)
            found.update(block.group[i] for i in numbers(called))
        return found

    def exposure(self, among: Collection[Place]) -> dict[str, list[int]]:
        """Return for each server the packets that its devices sent, and that were sent to them, among these devices."""
        sent: dict[str, list[int]] = {device.name: [0, 0] for block in self.blocks for device in block.group}
        for block in self.blocks:
            inside = block.mask(among)
            answers = zip(block.passed, block.silent, strict=True)
            rows = [(p | s) & inside if inside >> i & 1 else 0 for i, (p, s) in enumerate(answers)]
            for out, in_, device in zip(rows, transposed(rows), block.group, strict=True):
                sent[device.name][0] += PACKETS * out.bit_count()
                sent[device.name][1] += PACKETS * in_.bit_count()
        for r in self.listed():
            if r.gap is None and r.probe.source in among and r.probe.target in among:
                sent.setdefault(r.probe.source.name, [0, 0])[0] += r.sent
                sent.setdefault(r.probe.target.name, [0, 0])[1] += r.sent
        return sent

    def without(self, *, hosts: Collection[str] = (), devices: Collection[Place] = ()) -> Ledger:
        """Return the results without what these servers measured, and without calls of or to these devices."""
        if not hosts and not devices:
            return self
        beyond = [
            r
            for r in self.beyond
            if r.probe.source.name not in hosts and r.probe.source not in devices and r.probe.target not in devices
        ]
        blocks = [block.copy() for block in self.blocks]
        for block in blocks:
            gone = block.mask(devices)
            for i, device in enumerate(block.group):
                kept = 0 if device.name in hosts or gone >> i & 1 else ~gone
                block.passed[i] &= kept
                block.silent[i] &= kept
            block.partly = {
                (i, j): answer
                for (i, j), answer in block.partly.items()
                if block.group[i].name not in hosts and not (gone >> i | gone >> j) & 1
            }
        return self._like(blocks, beyond)

    def settled(self, away: Collection[str]) -> tuple[Ledger, Mapping[Place, int]]:
        """Return the results without what was lost with devices of these servers that worked, and how much that was."""
        worked = {d for d in self.working() if d.name in away} if away else set()
        if not worked:
            return self, {}
        shaken: Counter[Place] = Counter()
        blocks, kept = [block.copy() for block in self.blocks], []
        for block in blocks:
            mask = block.mask(worked)
            partly = {
                (i, j) for (i, j), (sent, got) in block.partly.items() if got < sent and (mask >> i | mask >> j) & 1
            }
            silent = {
                (i, j) for i, row in enumerate(block.silent) for j in numbers(row if mask >> i & 1 else row & mask)
            }
            for i, j in partly | silent:
                block.partly.pop((i, j), None)
                block.silent[i] &= ~(1 << j)
                shaken.update(block.group[k] for k in (i, j) if mask >> k & 1)
        for r in self.beyond:
            ends = [end for end in (r.probe.source, r.probe.target) if end in worked]
            if ends and r.gap is None and r.received < r.sent:
                shaken.update(ends)
            else:
                kept.append(r)
        return self._like(blocks, kept), shaken

    def _like(self, blocks: list[Block], beyond: list[ProbeResult]) -> Ledger:
        other = Ledger.__new__(Ledger)
        other.__dict__.update(self.__dict__, blocks=blocks, beyond=beyond)
        return other

    def listed(self) -> Iterator[ProbeResult]:
        """Yield the results that are more than a bit: partial ones, and those beside the plan."""
        for block in self.blocks:
            for (i, j), (sent, received) in block.partly.items():
                call = probe(self.plan.cluster, block.group[i], block.group[j])
                yield ProbeResult(probe=call, sent=sent, received=received)
        yield from self.beyond

    def _calls(self, block: Block, rows: Sequence[int], received: int) -> Iterator[ProbeResult]:
        for i, row in enumerate(rows):
            for j in numbers(row):
                call = probe(self.plan.cluster, block.group[i], block.group[j])
                yield ProbeResult(probe=call, sent=PACKETS, received=received)

    def _bits(self) -> int:
        return sum((p | s).bit_count() for b in self.blocks for p, s in zip(b.passed, b.silent, strict=True))

    def seat(self, source: Place, target: Place) -> tuple[int, int, int] | None:
        """Return where a planned call stands: the block's number, row and bit."""
        a, b = self._seats.get(source), self._seats.get(target)
        if a is None or b is None or a[0] != b[0]:
            return None
        return (a[0], a[1], b[1]) if self.blocks[a[0]].planned[a[1]] >> b[1] & 1 else None

    def _planned(self, source: Place, target: Place) -> tuple[Block, int, int] | None:
        at = self.seat(source, target)
        return None if at is None else (self.blocks[at[0]], at[1], at[2])

    def __iter__(self) -> Iterator[ProbeResult]:
        """Yield every answer that there is, one by one."""
        for block in self.blocks:
            yield from self._calls(block, block.passed, PACKETS)
            yield from self._calls(block, block.silent, 0)
        yield from self.listed()

    def __len__(self) -> int:
        """Return how many answers there are."""
        return self._bits() + sum(len(b.partly) for b in self.blocks) + len(self.beyond)

    @overload
    def __getitem__(self, index: int) -> ProbeResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ProbeResult, ...]: ...
    def __getitem__(self, index: int | slice) -> ProbeResult | tuple[ProbeResult, ...]:
        """Return an answer by its number; walks there."""
        if isinstance(index, slice):
            return tuple(self)[index]
        at = range(len(self))[index]
        return next(islice(self, at, None))


@dataclass(frozen=True, slots=True)
class _Planned(Sequence[int]):
    """The calls that a group is to make, row by row; computed, never stored."""

    terms: Terms
    size: int
    rail: int

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self.size)))
        return self.terms.targets(self.size, range(self.size)[index], self.rail)


def _enter(block: Block, i: int, j: int, result: ProbeResult) -> bool:
    passed = result.sent == PACKETS == result.received
    if passed:
        block.passed[i] |= 1 << j
    elif result.sent == PACKETS and result.received == 0:
        block.silent[i] |= 1 << j
    else:
        block.partly[i, j] = result.sent, result.received
    return passed
