"""Ranks and devices that say themselves what is wrong: the earliest that is no consequence (facts/logs 9.5)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.diagnose.child_errors import CUT, FIELD, WHOLE_S
from rankready.diagnose.device import device_kind, hurt
from rankready.diagnose.kernels import kernel_of
from rankready.diagnose.outside import distinct, outside
from rankready.kind.signature import Role, Stream
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event, Line

LATE_S = 300.0  # so long after the job stood still it is a consequence
TOGETHER_S = 1.0
GROUP_S = 5.0  # one rank's lines about one fault
AFTER_S = 30.0  # so long after it, another that was not heard can have been first
UNTIMED_S = 30.0  # a fault that has no moment is taken for one of the time at which the job stood still
SAME_S = 30.0  # one mistake in a script shows on all ranks within this
INF = float("inf")
# when one rank's lines tell of several, the first of these is the reason and the others are how it showed
REASONS = (
    "host_oom_kill", "hbm_ecc", "hccs_link", "device_lost", "link_down", "device_ip_differs", "rank_table_invalid",
    "environment_invalid", "process_left_over", "disk_full", "stuck_io", "port_in_use", "npu_oom", "aicore_exception",
    "aicpu_exception", "device_fault", "device_setup", "crashed", "python_exception", "killed", "exited",
)  # fmt: skip
NOT_BY_ITSELF = ("aicore_kernel", "aicore_reason", "storage_gone", "disk_error", "stuck_io")
WEAK = ("exited",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One rank's own fault: kind, moment, and the lines that say so, the most telling first."""

    rank: int
    kind: str
    at: float
    lines: tuple[Line, ...]
    codes: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)


def hard(case: Case) -> Blame | None:
    """Return the earliest claim that the others can have followed from; those of one kind at one moment together."""
    claims = [c for r in case.roster.ranks for c in _claims(case, r)]
    limit = INF if case.stall is None else case.stall + LATE_S
    timely = [c for c in claims if c.at <= limit or c.at == INF]
    if not timely:
        return None
    first = min(timely, key=lambda c: (_about(case, c), _weight(c)))
    near = min(timely, key=lambda c: (_about(case, c) > _about(case, first) + TOGETHER_S, _weight(c), c.at))
    chosen = near if _weight(near) < _weight(first) and near.kind not in WEAK else first
    return _blame(case, chosen, timely)


def _about(case: Case, claim: Claim) -> float:
    return claim.at if claim.at != INF or case.stall is None else case.stall + UNTIMED_S


def _weight(claim: Claim) -> int:
    return REASONS.index(claim.kind) if claim.kind in REASONS else len(REASONS)


def _claims(case: Case, rank: int) -> Sequence[Claim]:
    """What a rank says, or the kernel and its device say of it, about itself."""
    found = [c for c in (_own(case, rank), _ended(case, rank)) if c is not None]
    if len(found) < 2:  # noqa: PLR2004  (nothing to choose between)
        return found
    own, ended = found
    if _weight(own) <= _weight(ended) or ended.kind in WEAK:
        return [own]
    return found if own.at > ended.at + GROUP_S else [own]


def _own(case: Case, rank: int) -> Claim | None:
    said = [e for e in case.by_rank.get(rank, ()) if _speaks(case, e)]
    told = [(kind, e) for e in said if (kind := _kind(case, rank, e))]
    told = [(kind, e) for kind, e in told if not _is_consequence(case, rank, kind, e)]
    if not told:
        return None
    moments = [e.at for _, e in told if e.at is not None]
    end = case.ends.get(rank)
    at = min(moments) if moments else (end.at if end and end.at is not None else INF)
    group = [(k, e) for k, e in told if e.at is None or e.at <= at + GROUP_S]
    kind = min((k for k, _ in group), key=lambda k: REASONS.index(k) if k in REASONS else len(REASONS))
    lines = [e.line for k, e in group if k == kind]
    fields: dict[str, str] = {}
    for k, event in group:
        if k == kind:
            fields = {**event.fields, **fields}
    codes = dict.fromkeys(c for k, e in group if k == kind for c in _codes(e))
    more = [e for e in said if e.at is not None and abs(e.at - at) <= GROUP_S] if kind.endswith("exception") else []
    fields = {**fields, **kernel_of(more)}
    return Claim(rank=rank, kind=kind, at=at, lines=_spread(lines), codes=tuple(codes), fields=fields)


def _speaks(case: Case, event: Event) -> bool:
    if event.signature.role is not Role.LOCAL:
        return False
    end = case.ends.get(event.rank) if event.rank is not None else None
    # what a rank says while the launcher stops it is about being stopped
    return not (end and end.stopped and end.at is not None and event.at is not None and event.at > end.at - 1.0)


def _kind(case: Case, rank: int, event: Event) -> str:
    """The fault that a line proves; "" where it proves none."""
    if event.kind == "device_event":
        kind = device_kind(case.kinds, event)
        return kind if kind and (kind != "link_down" or hurt(case, rank, event)) else ""
    if event.kind == "listen_failed":
        return "port_in_use"
    return "" if event.kind in NOT_BY_ITSELF else event.kind


def _is_consequence(case: Case, rank: int, kind: str, event: Event) -> bool:
    """Tell whether the rank had said before that it waited, lost a peer, or was stopped."""
    if kind == "device_lost" and event.stream is Stream.HOST and not _anybody_hurt(case):
        return True
    if kind in ("python_exception", "device_lost", "npu_oom", "device_setup"):
        before = case.first(rank, Role.TIMEOUT, Role.LEFT, Role.PEER)
        if before is not None and _earlier(before, event):
            return True
    if kind == "python_exception":
        calls = [e for e in case.by_rank.get(rank, ()) if e.kind in ("called", "left") and e.stream is Stream.OUTPUT]
        return any(
            FIELD in event.fields or (e.line.file == event.line.file and e.line.offset <= event.line.offset)
            for e in calls
        )
    if kind in ("aicore_exception", "aicpu_exception"):
        return _collective(case, rank, event)
    return False


def _anybody_hurt(case: Case) -> bool:
    """On the way out a runtime may say that its device is gone, and nothing is wrong."""
    return bool(case.waiting()) or any(e.failed for e in case.ends.values())


def _collective(case: Case, rank: int, event: Event) -> bool:
    """A kernel that is itself a collective only timed out (facts/logs 6.2)."""
    near = [
        e
        for e in case.by_rank.get(rank, ())
        if e.kind == "aicore_kernel" and (e.at is None or event.at is None or abs(e.at - event.at) <= GROUP_S)
    ]
    names = [e.fields.get("kernel", "").lower() for e in near]
    return bool(names) and all(n.startswith("aiv_") or "hccl" in n or "kfc" in n for n in names)


def _earlier(one: Event, other: Event) -> bool:
    if one.at is not None and other.at is not None:
        return one.at < other.at + (WHOLE_S if CUT in other.fields else 0.0)
    return one.line.file == other.line.file and one.line.offset < other.line.offset


def _ended(case: Case, rank: int) -> Claim | None:
    """A rank that a signal ended before anybody stopped it, or that just left with a bad status."""
    end = case.ends.get(rank)
    if end is None or not end.failed or end.stopped or _after_others(case, rank):
        return None
    at = end.at if end.at is not None else INF
    line = _end_line(case, rank)
    if end.signal == KILL and end.oom:
        kernel = tuple(e.line for e in case.of("host_oom_kill") if _meant(case, rank, e))
        return Claim(rank=rank, kind="host_oom_kill", at=at, lines=(*kernel, *line), codes=("OOM",))
    if end.signal is not None:
        kind = "killed" if end.signal in (1, 2, 9, 15) else "crashed"
        name = SIGNALS.get(end.signal, f"signal {end.signal}")
        return Claim(
            rank=rank, kind=kind, at=at, lines=line, codes=(f"exitcode -{end.signal}",), fields={"signal": name}
        )
    if end.exit in (134, 135, 136, 137, 139, 143):
        number = end.exit - 128
        kind = "killed" if number in (9, 15) else "crashed"
        fields = {"signal": SIGNALS.get(number, f"signal {number}")}
        return Claim(rank=rank, kind=kind, at=at, lines=line, codes=(f"exitcode {end.exit}",), fields=fields)
    if _only_followed(case, rank, at):
        return None
    return Claim(
        rank=rank, kind="exited", at=at, lines=line, codes=(f"exitcode {end.exit}",), fields={"exit": str(end.exit)}
    )


def _meant(case: Case, rank: int, event: Event) -> bool:
    """The kernel's word on the same server at the same moment, by a number that only the machine itself uses."""
    end = case.ends[rank]
    near = event.at is not None and end.at is not None and abs(event.at - end.at) <= GROUP_S
    return near and event.rank is None and event.host == case.roster.host_of(rank)


def _only_followed(case: Case, rank: int, at: float) -> bool:
    """A bad status alone says little: not where the rank says that it waited, or anybody had waited in vain before."""
    own = case.first(rank, Role.TIMEOUT, Role.LEFT, Role.PEER, Role.GROUP)
    called = any(e.kind == "called" for e in case.by_rank.get(rank, ()))
    waits = (e.at for e in case.events if e.signature.role in (Role.TIMEOUT, Role.GROUP) and e.at is not None)
    earlier = (e.at for r, e in case.ends.items() if r != rank and e.failed and e.at is not None)
    return own is not None or called or any(t <= at for t in waits) or any(t < at - TOGETHER_S for t in earlier)


SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    4: "SIGILL",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}
KILL = 9
STOPS = (15, KILL)


def _after_others(case: Case, rank: int) -> bool:
    """A stop signal that came after another rank had failed was the launcher's, or its server's guard's."""
    end = case.ends[rank]
    if end.signal not in STOPS:
        return False
    grace = 0.0 if end.signal == 15 else 3.0  # noqa: PLR2004  (SIGTERM first; SIGKILL only after some grace)
    others = [e.at for r, e in case.ends.items() if r != rank and e.failed and e.signal != 15 and e.at is not None]  # noqa: PLR2004  (the same)
    return end.at is not None and any(t + grace <= end.at for t in others)


def _end_line(case: Case, rank: int) -> tuple[Line, ...]:
    from rankready.diagnose.event import Line  # noqa: PLC0415  (a value of one rule alone)

    end = case.ends[rank]
    last = case.by_rank.get(rank, ())
    own = tuple(e.line for e in last[-1:] if e.stream is Stream.OUTPUT and e.kind == "error_word")
    return (*((Line(file=end.file, number=end.number, text=end.text),) if end.text else ()), *own)


def _codes(event: Event) -> tuple[str, ...]:
    if event.kind == "device_event":
        return (f"0x{event.fields.get('event', '').upper()}",)
    if event.kind == "python_exception":
        return (event.fields.get("type", ""),)
    return event.signature.codes


def _spread(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Order lines so that the first ones come from different files."""
    seen: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        seen[line.file].append(line)
    firsts = [group[0] for group in seen.values()]
    return (*firsts, *(line for line in lines if line not in firsts))


def _blame(case: Case, chosen: Claim, claims: Sequence[Claim]) -> Blame:
    same = [c for c in claims if _with(case, chosen, c)]
    ranks = tuple(sorted({c.rank for c in same}))
    lines = [line for c in same for line in c.lines[:2]] if len(same) == 1 else [c.lines[0] for c in same if c.lines]
    for rank in ranks:
        lines += _end_line(case, rank) if rank in case.ends and case.ends[rank].failed else []
    if not lines:
        lines = _named_by_others(case, ranks)
    sources = {line.file for line in lines}
    more = outside(case, chosen.rank, chosen.kind, chosen.fields)
    lines = distinct([*lines[:2], *more.lines, *lines[2:]])
    sources |= {line.file for line in more.lines}
    fields = {**chosen.fields, **more.fields}
    return Blame(
        kind=chosen.kind,
        hosts=tuple(h for h in case.roster.names if any(case.roster.host_of(r) == h for r in ranks)),
        ranks=ranks,
        at=case.stall if chosen.at == INF else chosen.at,
        certainty=_certainty(chosen, len(sources), alone=len(claims) == len(same)),
        lines=tuple(lines),
        codes=(*chosen.codes, *_exit_codes(case, ranks, chosen.codes)),
        fields=fields,
        place_known=(chosen.kind not in WEAK or _spoke(case, ranks))
        and not _perhaps_second(case, chosen, ranks)
        and not _untimely(case, [c for c in claims if c not in same], ranks),
        witnesses=len(sources),
    )


def _spoke(case: Case, ranks: Sequence[int]) -> bool:
    """One rank alone, and what it said was read: else it may well have said why it ended."""
    logged = not case.log_from or set(ranks) <= case.log_from.keys()
    return len(ranks) == 1 and set(ranks) <= case.heard and logged


def _perhaps_second(case: Case, chosen: Claim, ranks: Sequence[int]) -> bool:
    """The job had stood still for a while, and of some who did not wait for it nothing tells how they ended."""
    if case.stall is None or chosen.at == INF or chosen.at <= case.stall + AFTER_S:
        return False
    known = {*ranks, *case.waiting(), *(r for r, e in case.ends.items() if e.at is not None)}
    return any(r not in known for r in case.roster.ranks)


def _untimely(case: Case, others: Sequence[Claim], ranks: Sequence[int]) -> bool:
    """A clock that was set back puts what it printed before what others did; which was first, nobody knows."""
    hosts = {case.roster.host_of(r) for r in ranks} | {case.roster.host_of(c.rank) for c in others}
    return bool(hosts & case.set_back) and any(c.kind not in WEAK and c.rank not in ranks for c in others)


def _named_by_others(case: Case, ranks: Sequence[int]) -> list[Line]:
    """Where nothing of the rank itself can be quoted: those that say that it was gone."""
    named = {str(r) for r in ranks}
    return [e.line for e in case.of("waited_for") if named & set(e.fields["peers"].replace(" ", "").split(","))]


def _exit_codes(case: Case, ranks: Sequence[int], known: Sequence[str]) -> tuple[str, ...]:
    ends = [case.ends[r] for r in ranks if r in case.ends and case.ends[r].failed and not case.ends[r].stopped]
    codes = [f"exitcode {-e.signal if e.signal is not None else e.exit}" for e in ends]
    return tuple(c for c in dict.fromkeys(codes) if c not in known)


def _certainty(chosen: Claim, sources: int, *, alone: bool) -> Certainty:
    if chosen.kind in WEAK:
        return Certainty.MAYBE
    return Certainty.SURE if sources > 1 or alone else Certainty.LIKELY


def _with(case: Case, chosen: Claim, other: Claim) -> bool:
    if other.kind != chosen.kind:
        return other.rank == chosen.rank
    if chosen.kind == "python_exception":
        alike = all(other.fields.get(k) == chosen.fields.get(k) for k in ("type", "where"))
        clocks = (case.clocks.get(case.roster.host_of(c.rank)) for c in (chosen, other))
        slack = SAME_S + sum(clock.error_s for clock in clocks if clock is not None)
        return other.rank == chosen.rank or (alike and _apart(chosen, other) <= slack)
    return other.rank == chosen.rank or _apart(chosen, other) <= TOGETHER_S


def _apart(one: Claim, other: Claim) -> float:
    return 0.0 if one.at == other.at else abs(one.at - other.at)
