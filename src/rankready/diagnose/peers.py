"""Ranks that point at each other: lost packets and failed copies (facts/logs 9.5, step 2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.diagnose.case import Case, Port
    from rankready.diagnose.event import Event, Line

NEAR_S = 180.0
FEW = 2  # so many reports of one target are no chance


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointing:
    """One rank's report against another."""

    rank: int
    peer: int
    event: Event


def peers(case: Case) -> Blame | None:
    """Judge failed copies by their common target, then lost packets by the end whose port fell."""
    return _copies(case) or _packets(case)


def _copies(case: Case) -> Blame | None:
    told = _pointings(case, ("hccs_copy", "sdma_error", "remote_suspect"))
    if not told:
        return None
    counted = Counter(p.peer for p in {(p.rank, p.peer): p for p in told}.values())
    target, count = counted.most_common(1)[0]
    reporters = {p.rank for p in told if p.peer == target}
    status = [e for e in case.of("sdma_status") if e.fields.get("status") == "9"]
    over_hccs = case.of("hccs_copy")
    first = next(p.event for p in told if p.peer == target)
    tied = sum(1 for n in counted.values() if n == count) > 1
    return Blame(
        kind="hccs_link" if status or over_hccs else "device_fault",
        hosts=case.hosts_of([target]),
        ranks=(target,),
        at=min((p.event.at for p in told if p.event.at is not None), default=None),
        certainty=Certainty.LIKELY if len(reporters) >= FEW and not tied else Certainty.MAYBE,
        lines=(first.line, *(e.line for e in status[:1]), *(p.event.line for p in told if p.event.host != first.host)),
        codes=("EI0012",),
        fields={"count": str(len(reporters)), "event": "SDMA"},
        place_known=not tied,
        witnesses=len(reporters),
    )


def _packets(case: Case) -> Blame | None:
    told = _pointings(case, ("cqe_error",))
    if not told:
        return None
    at = min((p.event.at for p in told if p.event.at is not None), default=None)
    ends = tuple(sorted({r for p in told for r in (p.rank, p.peer)}))
    fell = [(r, port) for r in ends if (port := _fallen(case, r, at))]
    if fell:
        return _fell(case, fell, told)
    pairs = {tuple(sorted((p.rank, p.peer))) for p in told}
    targets = Counter(peer for _, peer in {(p.rank, p.peer) for p in told})
    target, count = targets.most_common(1)[0]
    if count >= FEW and sum(1 for n in targets.values() if n == count) == 1 and len(pairs) > 1:
        return _one_target(case, target, told, at)
    gone = [r for r in ends if _gone_before(case, r, at)]
    if len(gone) == 1:
        return _one_target(case, gone[0], told, at)
    return _between(case, pairs, told, at)


def _pointings(case: Case, kinds: tuple[str, ...]) -> tuple[Pointing, ...]:
    found = []
    for event in case.of(*kinds):
        peer = case.roster.by_address.get(event.fields.get("there") or "", event.number("peer"))
        rank = case.roster.by_address.get(event.fields.get("here") or "", event.rank)
        rank = event.rank if rank is None else rank
        if rank is not None and peer is not None and peer != rank and peer in case.roster.by_rank:
            found.append(Pointing(rank=rank, peer=peer, event=event))
    return tuple(found)


def _port_of(case: Case, rank: int) -> Port | None:
    process = case.roster.by_rank[rank]
    return next((p for p in case.ports if (p.host, p.device) == (process.host, process.device)), None)


def _fallen(case: Case, rank: int, at: float | None) -> tuple[float | None, Line] | None:
    """When a rank's port fell, by the device's own record of its link, near the moment of the loss."""
    port = _port_of(case, rank)
    if port is None:
        return None
    downs = [moment for moment, up in port.changes if not up]
    near = [t for t in downs if at is None or -NEAR_S <= t - at <= 1.0]
    return (max(near), port.line) if near else None


def _fell(case: Case, fell: Sequence[tuple[int, tuple[float | None, Line]]], told: Sequence[Pointing]) -> Blame:
    ranks = tuple(r for r, _ in fell)
    return Blame(
        kind="link_down",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=min((t for _, (t, _) in fell if t is not None), default=None),
        certainty=Certainty.SURE if len(ranks) == 1 else Certainty.LIKELY,
        lines=(*(line for _, (_, line) in fell), told[0].event.line),
        codes=("EI0013",),
        fields={"span": ""},
        witnesses=len(told),
    )


def _one_target(case: Case, target: int, told: Sequence[Pointing], at: float | None) -> Blame:
    return Blame(
        kind="link_down",
        hosts=case.hosts_of([target]),
        ranks=(target,),
        at=_nearest(case, at),
        certainty=Certainty.MAYBE,
        lines=tuple(p.event.line for p in told),
        codes=("EI0013",),
        fields={"span": ""},
        witnesses=len({p.rank for p in told}),
    )


def _gone_before(case: Case, rank: int, at: float | None) -> bool:
    """A process that ended well before its peer lost it, by no order of the launcher."""
    end = case.ends.get(rank)
    return bool(end and end.failed and not end.stopped and end.at is not None and at is not None and end.at < at - 1.0)


def _between(case: Case, pairs: set[tuple[int, ...]], told: Sequence[Pointing], at: float | None) -> Blame:
    """Nothing tells which end: a border between groups of hosts, or the link of one pair."""
    crossing = {tuple(case.roster.host_of(r) for r in pair) for pair in pairs}
    devices = {case.roster.by_rank[r].device for pair in pairs for r in pair}
    ranks = tuple(sorted({r for pair in pairs for r in pair}))
    wide = len(pairs) > 1 and len(devices) > 1 and all(a != b for a, b in crossing)
    clean = [r for r in ranks if (port := _port_of(case, r)) is not None and not port.downs]
    other = tuple(r for r in ranks if r not in clean)
    one_end = len(clean) == 1 and len(other) == 1 and other[0] not in case.read
    places = other if one_end else ranks
    sides = _sides(case, crossing) if wide else " ⇄ ".join(f"rank {r}" for r in ranks)
    return Blame(
        kind="network_cut" if wide else ("link_down" if one_end else "link_between"),
        hosts=case.hosts_of(places),
        ranks=None if wide else places,
        at=_nearest(case, at),
        certainty=Certainty.MAYBE if one_end else Certainty.LIKELY,
        lines=tuple(p.event.line for p in told),
        codes=("EI0013",),
        fields={"sides": sides, "span": ""},
        place_known=one_end,
        witnesses=len({p.rank for p in told}),
    )


def _sides(case: Case, crossing: set[tuple[str, ...]]) -> str:
    """Sort the hosts into two groups such that every broken pair crosses between them."""
    left: set[str] = set()
    right: set[str] = set()
    for a, b in sorted(crossing):
        (right if a in right else left).add(a)
        (left if a in right else right).add(b)
    names = case.roster.names
    return " | ".join(", ".join(h for h in names if h in side) for side in (left, right - left))


def _nearest(case: Case, at: float | None) -> float | None:
    """The job stood still when the packets were lost; the report comes some thirty seconds later."""
    if at is None:
        return case.stall
    return case.stall if case.stall is not None and 0.0 <= at - case.stall <= NEAR_S else at
