"""How much of what was planned is proven."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.mesh.bits import numbers
from rankready.mesh.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rankready.mesh.ledger import Block
    from rankready.mesh.probe import ProbeResult
    from rankready.mesh.schedule import Schedule
    from rankready.model.place import Place

Shares = dict[tuple[int, int], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Planned probes by what came of them (facts/mesh 12).

    ``proven``: every packet of one call came back. ``connected``: some did. ``failed``: none did. ``unmeasured``: no
    call could be made or read; ``explained`` of these have an end whose fault is known, ``reason`` is the first
    other's. ``excluded``: pairs (unordered) that a rule leaves out.
    """

    planned: int
    proven: int
    connected: int
    failed: int
    unmeasured: int
    explained: int
    rounds: int
    bound: int
    excluded: int = 0
    reason: str = ""
    reason_zh: str = ""

    @property
    def complete(self) -> bool:
        """Nothing is left unmeasured without a known cause."""
        return self.unmeasured == self.explained


def coverage(schedule: Schedule, results: Sequence[ProbeResult], faulty: Collection[Place] = ()) -> Coverage:
    """Count the planned rail probes; references and follow-ups prove nothing that was planned."""
    ledger = results if isinstance(results, Ledger) and results.plan is schedule else Ledger.of(schedule, results)
    counts: Counter[str] = Counter()
    first: tuple[Place, Place] | None = None
    for block, shares in zip(ledger.blocks, _shares(ledger), strict=True):
        open_ = _count(block, shares, block.mask(faulty), counts)
        first = first or open_
    why = None if first is None else ledger.why(*first).why
    return Coverage(
        planned=schedule.planned,
        proven=counts["proven"],
        connected=counts["connected"],
        failed=counts["failed"],
        unmeasured=counts["unmeasured"],
        explained=counts["explained"],
        rounds=len(schedule.steps) + len(schedule.references),
        bound=schedule.bound,
        excluded=sum(e.pairs for e in schedule.excluded),
        reason="" if first is None or why is None else f"{first[0]} to {first[1]}: {why.en}",
        reason_zh="" if first is None or why is None else f"{first[0]} 到 {first[1]}：{why.zh}",
    )


def unmeasured(ledger: Ledger) -> Mapping[str, int]:
    """Return how many planned probes have no answer, by the reason."""
    reasons: Counter[str] = Counter()
    for block, shares in zip(ledger.blocks, _shares(ledger), strict=True):
        for i, row in _open(block, shares):
            if row:
                _by_reason(ledger, block, i, row, reasons=reasons)
    return dict(sorted(reasons.items()))


def settled_rows(ledger: Ledger) -> list[tuple[list[int], list[int], list[tuple[int, int]]]]:
    """Return block by block, the best answer of each call: bits of those that passed, of those lost, and the others."""
    found = []
    for block, shares in zip(ledger.blocks, _shares(ledger), strict=True):
        passed, silent = list(block.passed), list(block.silent)
        for (i, j), share in shares.items():
            bit = 1 << j
            passed[i] = passed[i] | bit if share >= 1 else passed[i] & ~bit
            silent[i] = silent[i] | bit if share <= 0 else silent[i] & ~bit
        found.append((passed, silent, [pair for pair, share in shares.items() if 0 < share < 1]))
    return found


def _by_reason(ledger: Ledger, block: Block, i: int, row: int, *, reasons: Counter[str]) -> None:
    """Count a row at once where all of it has its caller's reason, else call by call."""
    source = block.group[i]
    own = ledger.reason_of_all(source)
    if own is not None:
        reasons[own] += row.bit_count()
        return
    for j in numbers(row):
        reasons[ledger.why(source, block.group[j]).reason] += 1


def _count(block: Block, shares: Shares, faulty: int, counts: Counter[str]) -> tuple[Place, Place] | None:
    """Add up one block; return its first call without an answer or a known cause."""
    first: tuple[Place, Place] | None = None
    masks = _masks(shares)
    for i, open_ in _open(block, shares):
        sure = ~masks.get(i, 0)
        counts["proven"] += (block.passed[i] & sure).bit_count()
        counts["failed"] += (block.silent[i] & sure).bit_count()
        counts["unmeasured"] += open_.bit_count()
        known = open_ if faulty >> i & 1 else open_ & faulty
        counts["explained"] += known.bit_count()
        if first is None and open_ != known:
            first = block.group[i], block.group[next(numbers(open_ & ~known))]
    counts["proven"] += sum(share >= 1 for share in shares.values())
    counts["connected"] += sum(0 < share < 1 for share in shares.values())
    counts["failed"] += sum(share <= 0 for share in shares.values())
    return first


def _open(block: Block, shares: Shares) -> list[tuple[int, int]]:
    """Return for each device the planned calls without an answer, as bits."""
    masks = _masks(shares)
    return [
        (i, block.planned[i] & ~(block.passed[i] | block.silent[i] | masks.get(i, 0))) for i in range(len(block.group))
    ]


def _masks(shares: Shares) -> dict[int, int]:
    masks: dict[int, int] = {}
    for i, j in shares:
        masks[i] = masks.get(i, 0) | 1 << j
    return masks


def _shares(ledger: Ledger) -> list[Shares]:
    """Return block by block the best share of echoes of those calls whose answer is more than a bit, or came twice."""
    found: list[Shares] = [
        {pair: received / sent for pair, (sent, received) in block.partly.items()} for block in ledger.blocks
    ]
    for r in ledger.beyond:
        at = ledger.seat(r.probe.source, r.probe.target)
        if at is None or r.gap is not None or r.sent <= 0:
            continue
        number, i, j = at
        block, shares = ledger.blocks[number], found[number]
        before = shares.get((i, j), 1.0 if block.passed[i] >> j & 1 else 0.0)
        shares[i, j] = max(before, r.received / r.sent)
    return found
