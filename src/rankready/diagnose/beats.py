"""HCCL's heartbeat: whoever stopped answering is accused, also those that a launcher stopped (facts/logs 7, 9.5)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event, Line

LOST_AFTER_S = 30.0
_TYPES = {"Heartbeat Lost Occurred": "LOST", "Stuck Occurred": "STUCK", "Error cqe Occurred": "ERROR CQE"}
FEW = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One accusation: who, in which state, by whom, heard when, and the event that tells it."""

    rank: int
    state: str
    by: int | None
    at: float | None
    event: Event


def accusations(case: Case) -> tuple[Beat, ...]:
    """All accusations whose accused is a rank of this job, earliest first."""
    found = []
    for event in case.of("beat", "exception"):
        rank = case.roster.at(event.fields["server"], event.number("device"))
        state = event.fields.get("state") or _TYPES.get(event.fields.get("type", ""), "")
        if rank is None or not state:
            continue
        by = case.roster.at(event.fields.get("by_server") or "", event.number("by_device"))
        heard = event.fields.get("arrival_at")
        at = float(heard) if heard else event.at
        found.append(Beat(rank=rank, state=state, by=by, at=at, event=event))
    return tuple(sorted(found, key=lambda b: b.at if b.at is not None else float("inf")))


def beats(case: Case) -> Blame | None:
    """Judge STUCK first: such a process lives; then LOST, host by host. A self-accusation of lost packets is none."""
    told = accusations(case)
    stuck = [b for b in told if b.state == "STUCK"]
    if stuck:
        return _stuck(case, stuck)
    silent = [b for b in told if b.state == "LOST"]
    return _lost(case, silent) if silent else None


def _stuck(case: Case, told: Sequence[Beat]) -> Blame:
    ranks = tuple(dict.fromkeys(b.rank for b in told))
    at = case.stall if case.stall is not None else (told[0].at or 0.0) - case.execute_s / 2
    return Blame(
        kind="stuck",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=at,
        certainty=Certainty.LIKELY if len(ranks) == 1 else Certainty.MAYBE,
        lines=(told[0].event.line,),
        codes=("STUCK",),
        fields={"pid": case.roster.pid_of(ranks[0])},
        place_known=len(ranks) <= FEW,
        witnesses=len({b.by for b in told}),
    )


def _lost(case: Case, told: Sequence[Beat]) -> Blame | None:
    by_host: dict[str, list[Beat]] = defaultdict(list)
    for beat in told:
        by_host[case.roster.host_of(beat.rank)].append(beat)
    if both := _mutual(case, told):
        return both
    host, beats_there = min(by_host.items(), key=lambda item: (item[0] not in case.dark(), item[1][0].at or 0.0))
    ranks = tuple(sorted({b.rank for b in beats_there}))
    heard = beats_there[0].at
    at = None if heard is None else heard - LOST_AFTER_S
    lines = tuple(b.event.line for b in beats_there[:1]) + _other_sources(beats_there)
    witnesses = len({b.by for b in told if b.by is not None})
    if host in case.dark():
        whole_host = set(ranks) >= set(case.roster.on(host)) or len(ranks) >= 3  # noqa: PLR2004  (an EI0002 lists three at most)
        return Blame(
            kind="host_silent",
            hosts=(host,),
            ranks=case.roster.on(host) if whole_host else ranks,
            at=_nearer(case, at),
            certainty=Certainty.LIKELY if host in case.collected.unreachable and whole_host else Certainty.MAYBE,
            lines=lines,
            codes=("LOST",),
            witnesses=witnesses,
        )
    chosen = _by_end(case, ranks) or (_earliest(beats_there) if len(by_host) == 1 or len(ranks) == 1 else ())
    whole_host = set(ranks) >= set(case.roster.on(host))
    if whole_host and not _by_end(case, ranks) and all(r not in case.ends for r in ranks):
        return Blame(
            kind="host_silent",
            hosts=(host,),
            ranks=ranks,
            at=_nearer(case, at),
            certainty=Certainty.MAYBE,
            lines=lines,
            codes=("LOST",),
            witnesses=witnesses,
        )
    picked = chosen or ranks
    return Blame(
        kind="unknown",
        hosts=(host,),
        ranks=picked,
        at=_nearer(case, at),
        certainty=Certainty.MAYBE,
        lines=lines,
        codes=("LOST",),
        place_known=len(picked) == 1,
        witnesses=witnesses,
    )


def _nearer(case: Case, at: float | None) -> float | None:
    """The stall tells the moment better than a heartbeat, where both are near each other."""
    if at is None or case.stall is None:
        return at if at is not None else case.stall
    return case.stall if abs(case.stall - at) <= LOST_AFTER_S * 2 else at


def _mutual(case: Case, told: Sequence[Beat]) -> Blame | None:
    """Hosts that lost each other, both alive: the network between them."""
    pairs = {(case.roster.host_of(b.by), case.roster.host_of(b.rank)) for b in told if b.by is not None}
    both = sorted({tuple(sorted(p)) for p in pairs if p[0] != p[1] and (p[1], p[0]) in pairs})
    if not both or any(h in case.dark() for p in both for h in p):
        return None
    hosts = tuple(h for h in case.roster.names if any(h in p for p in both))
    left = {p[0] for p in both}
    right = {h for p in both for h in p} - left
    shown = ", ".join(sorted(left)), ", ".join(sorted(right) or sorted(left))
    first = told[0]
    return Blame(
        kind="network_cut",
        hosts=hosts,
        at=_nearer(case, None if first.at is None else first.at - LOST_AFTER_S),
        certainty=Certainty.LIKELY,
        lines=tuple(b.event.line for b in (told[0], *(b for b in told if b.rank != told[0].rank))),
        codes=("LOST",),
        fields={"sides": " | ".join(shown)},
        place_known=False,
        witnesses=len({b.by for b in told}),
    )


def _by_end(case: Case, ranks: Sequence[int]) -> tuple[int, ...]:
    """Of the accused, those that ended by themselves rather than by the launcher's order."""
    own = [r for r in ranks if r in case.ends and case.ends[r].failed and not case.ends[r].stopped]
    return tuple(own) if own and len(own) < len(ranks) else ()


def _earliest(told: Sequence[Beat]) -> tuple[int, ...]:
    first = told[0]
    same = {b.rank for b in told if b.at is None or first.at is None or b.at - first.at <= 1.0}
    return tuple(sorted(same))


def _other_sources(told: Sequence[Beat]) -> tuple[Line, ...]:
    first = told[0].event.line.file
    return tuple(b.event.line for b in told if b.event.line.file != first)[:1]
