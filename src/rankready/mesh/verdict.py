"""What probing means for each device: reached, silent, implied by something else, or not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.mesh.clues import gather
from rankready.mesh.coverage import coverage
from rankready.mesh.hygiene import without
from rankready.mesh.ledger import Ledger
from rankready.mesh.localise import localise
from rankready.mesh.suspect import NO_DEVICE
from rankready.model.finding import Outcome, Verdict
from rankready.model.place import Place, PlaceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from rankready.mesh.clues import Clues
    from rankready.mesh.direction import Trial
    from rankready.mesh.probe import ProbeResult
    from rankready.mesh.schedule import Schedule
    from rankready.mesh.suspect import Localisation
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding
    from rankready.model.snapshot import Gap, Seen

Found = dict[tuple[str, "Place"], list["Finding"]]


def mesh_verdicts(  # noqa: PLR0913  (what was seen, and three things that may be known beside it)
    cluster: Cluster,
    seen: Seen,
    results: Sequence[ProbeResult],
    *,
    audit: tuple[Verdict, ...] = (),
    schedule: Schedule | None = None,
    trials: Sequence[Trial] = (),
) -> tuple[Verdict, ...]:
    """Give each device its NET009 verdict, then what else was found; with a ``schedule`` also the coverage's verdict.

    A finding whose place, owner or blamed place has a root finding in the ``audit`` is IMPLIED, as in the checks' own
    engine; so is a device's when its whole server or leaf is silent. A device that nobody could judge is UNKNOWN.
    Deterministic: cluster order.
    """
    where = localise(cluster, seen, results, audit=audit, trials=trials)
    return _verdicts(where, gather(cluster, seen, audit), results, schedule)


def _verdicts(
    where: Localisation, clues: Clues, results: Sequence[ProbeResult], schedule: Schedule | None
) -> tuple[Verdict, ...]:
    found: Found = {}
    for item in where.findings:
        found.setdefault((item.code, item.place), []).append(item)
    whole = {place for code, place in found if code == NO_DEVICE and place.kind is not PlaceKind.DEVICE}
    reasons, partners = _reasons(results), _partners(results)
    idle = frozenset[Place]() if schedule is None else _idle(schedule)
    judged: list[Verdict] = []
    for device in clues.cluster.devices():
        items = found.pop((NO_DEVICE, device), [])
        judged.append(
            _judged(NO_DEVICE, device, items, clues=clues, whole=whole)
            if items
            else _quiet(
                device,
                where,
                "" if device in where.reached else clues.root(device) or _root_beyond(partners(device), clues),
                idle=device in idle,
                gap=None if device in where.reached else reasons(device),
            )
        )
    judged += [_judged(code, place, items, clues=clues, whole=whole) for (code, place), items in found.items()]
    if schedule is not None and schedule.planned:
        judged.append(_covered(schedule, without(results, where.slow_hosts), known_faults(judged, clues)))
    return tuple(judged)


def known_faults(judged: Iterable[Verdict], clues: Clues) -> set[Place]:
    """Return the places whose fault is known; of a server that does not answer nothing is known, nor of its devices."""
    bad = (Outcome.FAIL, Outcome.IMPLIED)
    return {v.place for v in judged if v.outcome in bad and v.place.name not in clues.away}


def _judged(code: str, place: Place, items: list[Finding], *, clues: Clues, whole: set[Place]) -> Verdict:
    """FAIL, unless every finding here follows from something found elsewhere."""
    roots = [_root(place, item, clues, whole) for item in items]
    if all(roots):
        return Verdict(code=code, place=place, outcome=Outcome.IMPLIED, findings=tuple(items), reason=roots[0])
    return Verdict(code=code, place=place, outcome=Outcome.FAIL, findings=tuple(items))


def _root(place: Place, item: Finding, clues: Clues, whole: set[Place]) -> str:
    root = clues.root(place, *item.blames) or (clues.unheard(place) if place.kind is PlaceKind.SERVER else "")
    if root:
        return root
    beyond = next((f"{NO_DEVICE} {b}" for b in item.blames if b in whole and b != place), "")
    return beyond or clues.absent(place, *item.blames)


def _quiet(device: Place, where: Localisation, root: str, *, idle: bool, gap: Gap | None) -> Verdict:
    """Judge a device of which nothing was found."""
    if device in where.reached:
        return Verdict(code=NO_DEVICE, place=device, outcome=Outcome.PASS)
    if root:
        return Verdict(code=NO_DEVICE, place=device, outcome=Outcome.IMPLIED, reason=root)
    if idle and device not in where.undecided:
        en, zh = "the plan gives it no device to reach", "规划中没有它需要连通的设备"
        return Verdict(code=NO_DEVICE, place=device, outcome=Outcome.SKIP, reason=en, reason_zh=zh)
    if said := where.undecided.get(device):
        return Verdict(code=NO_DEVICE, place=device, outcome=Outcome.UNKNOWN, reason=said)
    en, zh = (
        ("no probe was made", "没有探测") if gap is None else (f"not measured: {gap.why.en}", f"未测：{gap.why.zh}")
    )
    return Verdict(code=NO_DEVICE, place=device, outcome=Outcome.UNKNOWN, reason=en, reason_zh=zh)


def _reasons(results: Sequence[ProbeResult]) -> Callable[[Place], Gap | None]:
    """Return what tells of a device why a call with it could not be made or read; the first reason stands."""
    reasons: dict[Place, Gap] = {}
    if isinstance(results, Ledger):
        return results.reason
    for r in results:
        if r.gap is not None:
            for place in (r.probe.source, r.probe.target):
                reasons.setdefault(place, r.gap)
    return reasons.get


def _partners(results: Sequence[ProbeResult]) -> Callable[[Place], Collection[Place]]:
    """Return what tells whom a device was to meet."""
    if isinstance(results, Ledger):
        return results.partners
    partners: dict[Place, set[Place]] = {}
    for r in results:
        partners.setdefault(r.probe.source, set()).add(r.probe.target)
        partners.setdefault(r.probe.target, set()).add(r.probe.source)
    return lambda device: partners.get(device, ())


def _root_beyond(partners: Collection[Place], clues: Clues) -> str:
    """Return the known fault that keeps a device from being judged: every partner that it was to meet has one."""
    roots = [clues.known(p) for p in sorted(partners)]
    return roots[0] if roots and all(roots) else ""


def _idle(schedule: Schedule) -> frozenset[Place]:
    busy = {d for groups in schedule.rails for g in groups if len(g) > 1 for d in g}
    return frozenset(d for d in schedule.cluster.devices() if d not in busy)


def _covered(schedule: Schedule, results: Sequence[ProbeResult], faulty: set[Place]) -> Verdict:
    place, covered = schedule.cluster.place, coverage(schedule, results, faulty)
    if covered.complete:
        return Verdict(code=NO_DEVICE, place=place, outcome=Outcome.PASS)
    open_ = covered.unmeasured - covered.explained
    return Verdict(
        code=NO_DEVICE,
        place=place,
        outcome=Outcome.UNKNOWN,
        reason=f"{open_} of {covered.planned} planned probes were not measured; {covered.reason}",
        reason_zh=f"计划的 {covered.planned} 次探测中有 {open_} 次未测；{covered.reason_zh}",
    )
