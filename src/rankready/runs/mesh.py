"""Device-to-device reachability: who was proven to reach whom, and who is to blame where not.

The audit comes first (links, addresses, masks, cables): what it decides needs no probe. Each server walks its own list
of calls, without a barrier between servers, so that one slow device costs nobody else's time (facts/mesh 5).
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rankready.kind.check import verdicts
from rankready.mesh.clues import gather
from rankready.mesh.coverage import coverage
from rankready.mesh.follow import follow_up
from rankready.mesh.localise import localise
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.finding import Outcome
from rankready.model.observed.device import DeviceAddress, Link
from rankready.model.observed.host import Reached
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended
from rankready.runs.mesh_log import Log
from rankready.runs.mesh_pace import LEVELS, Pace
from rankready.runs.mesh_preview import grade, grade_text, preview
from rankready.runs.mesh_walk import Walk
from rankready.runs.observe import product

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.mesh.clues import Clues
    from rankready.mesh.probe import Mode, Probe, ProbeResult
    from rankready.mesh.schedule import Schedule
    from rankready.mesh.suspect import Suspect
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.record import Record
    from rankready.runs.mesh_walk import Numbered
    from rankready.runs.site import Site

AUDIT = ("NET001", "NET002", "NET003", "NET004", "NET005", "NET006", "NET007", "NET012", "TLS001", "CAB", "HST001")
WAVES = 3  # follow-up waves at most (facts/mesh 9, step 3)
SAMPLES = 3  # servers that measure how long a call takes before the rest begins, and calls of each
UNREACHED = "HST001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much to prove. ``mode`` None: directed up to 32 servers, sparse beyond.

    ``max_time_s`` and ``max_probes`` 0: no limit. ``per_host``: calls of one server at a time; 0: find out, upward from
    one. ``resume``: go on with an interrupted run of the same plan.
    """

    mode: Mode | None = None
    sparse_k: int = 8
    max_time_s: float = 0.0
    max_probes: int = 0
    per_host: int = 1
    resume: bool = False
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """What the audit knows before the first probe."""

    cluster: Cluster
    seen: Seen
    audit: tuple[Verdict, ...]
    clues: Clues
    plan: Schedule


async def mesh(site: Site, limits: Limits = Limits()) -> Record:
    """Audit, probe, and name what is wrong; ``extra`` holds coverage, suspects, and those that the audit explains."""
    scene = await _audited(site, limits)
    log = Log(site.home, scene.plan, resume=limits.resume)
    done = False
    try:
        walk = _walk(site, scene, limits, log)
        began = time.monotonic()
        results = await _probed(site, scene, limits, walk)
        seconds = round(time.monotonic() - began, 3)
        done = all(r.gap is None for r in results)
    finally:
        log.close(done=done)
    return _judged(site, scene, walk, strict=limits.strict, seconds=seconds)


async def _audited(site: Site, limits: Limits) -> _Scene:
    chosen = checks(AUDIT)
    facts = {need for c in chosen for need in c.needs} | {DeviceAddress, Link, Reached}
    snapshot = await observe_planned(site, facts)
    cluster, seen = intended(site, snapshot), Seen(snapshot)
    audit = verdicts(chosen, cluster, seen)
    plan = schedule(
        cluster, product(cluster), mode=limits.mode, sparse_k=limits.sparse_k, per_host=max(1, limits.per_host)
    )
    return _Scene(cluster=cluster, seen=seen, audit=audit, clues=gather(cluster, seen, audit), plan=plan)


def _walk(site: Site, scene: _Scene, limits: Limits, log: Log) -> Walk:
    rings = product(scene.cluster).rings
    highest = limits.per_host or LEVELS[-1]
    walk = Walk(site, scene.seen, log, lambda _: Pace(rings, highest=highest, fixed=limits.per_host > 0))
    for name, slots in log.known.items():
        walk.of[name].slots.update(slots)
    for server in scene.cluster.servers:  # who did not answer the audit is not waited for a second time
        if (gap := scene.seen.gap(server.place, Reached)) is not None:
            walk.of[server.name].stalled = gap.reason
    if log.known:
        many = sum(map(len, log.known.values()))
        site.say(Text(en=f"going on: {many} results are known", zh=f"继续上次运行：已有 {many} 个结果"))
    if limits.max_probes:
        walk.left = limits.max_probes
    return walk


async def _probed(site: Site, scene: _Scene, limits: Limits, walk: Walk) -> list[ProbeResult]:
    """Measure a few calls, tell the cost, make the rest, and follow up what the audit does not explain."""
    calls = {s.name: list(enumerate(scene.plan.calls(s.name))) for s in scene.cluster.servers}
    if limits.max_time_s:
        walk.until = time.monotonic() + limits.max_time_s
    await walk.make(_sample(site, calls, walk))
    site.say(preview(scene.plan, calls, walk, limits.per_host))
    await walk.make(calls)
    planned = {name: len(mine) for name, mine in calls.items()}
    for _ in range(WAVES):
        results = walk.results()
        open_ = [r for r in results if not scene.clues.root(r.probe.source, r.probe.target)]
        more = follow_up(scene.cluster, product(scene.cluster), scene.seen, open_, audit=scene.audit)
        if not more:
            break
        await walk.make(_grouped(more, planned))
    return walk.results()


def _sample(site: Site, calls: dict[str, list[Numbered]], walk: Walk) -> dict[str, list[Numbered]]:
    """Return the first open calls of a few servers that answer, spread over the cluster."""
    able = [name for name in calls if name not in site.fleet.lost and not walk.of[name].stalled]
    some = able[:: max(1, len(able) // SAMPLES)][:SAMPLES]
    return {name: [c for c in calls[name] if c[0] not in walk.of[name].slots][:SAMPLES] for name in some}


def _grouped(probes: Iterable[Probe], next_slot: dict[str, int]) -> dict[str, list[Numbered]]:
    """Number follow-ups behind the planned calls of their server."""
    found: dict[str, list[Numbered]] = {}
    for probe in probes:
        name = probe.source.name
        found.setdefault(name, []).append((next_slot[name], probe))
        next_slot[name] += 1
    return found


def _judged(site: Site, scene: _Scene, walk: Walk, *, strict: bool, seconds: float) -> Record:
    results = walk.results()
    audit = tuple(_now(v, walk.lost) for v in scene.audit)
    probed = mesh_verdicts(scene.cluster, scene.seen, results, audit=audit, schedule=scene.plan)
    faulty = {v.place for v in (*audit, *probed) if v.outcome in (Outcome.FAIL, Outcome.IMPLIED)}
    failing = {v.place for v in probed if v.outcome is Outcome.FAIL}
    suspects = localise(scene.cluster, scene.seen, results, audit=audit).suspects
    explained = [s for s in suspects if failing.isdisjoint(s.places) and scene.clues.root(*s.places)]
    covered = coverage(scene.plan, results, faulty)
    pace = [w.pace for w in walk.of.values() if w.slots]
    extra = {
        "coverage": {
            **asdict(covered),
            "seconds": seconds,
            "mode": scene.plan.mode.value,
            "grade": grade(scene.plan),
            "packets": sum(r.sent for r in results),
            "per_host": max((p.best for p in pace), default=1),
            "busy_servers": sum(p.busy for p in pace),
        },
        "suspects": [_suspect(s) for s in suspects if s not in explained],
        "explained": [{**_suspect(s), "by": scene.clues.root(*s.places)} for s in explained],
        "notes": _notes(scene.plan, covered.reason),
    }
    return site.judged("mesh", (*audit, *probed), strict=strict, extra=extra)


def _now(verdict: Verdict, lost: dict[str, str]) -> Verdict:
    """A server that answered the audit and was lost since is not known any more."""
    if verdict.code != UNREACHED or verdict.outcome is not Outcome.PASS or verdict.place.name not in lost:
        return verdict
    return replace(verdict, outcome=Outcome.UNKNOWN, reason=f"lost while it was probing: {lost[verdict.place.name]}")


def _notes(plan: Schedule, reason: str) -> list[dict[str, str]]:
    text = grade_text(plan)
    notes = [{"en": text.en, "zh": text.zh}] if grade(plan) != "proof" else []
    return [*notes, {"en": f"not measured: {reason}", "zh": f"未测：{reason}"}] if reason else notes


def _suspect(suspect: Suspect) -> dict[str, Any]:
    return {
        "places": [str(p) for p in suspect.places],
        "kind": suspect.kind.value,
        "witnesses": suspect.witnesses,
        "certainty": suspect.certainty.value,
        "next_test": {"en": suspect.next_test.en, "zh": suspect.next_test.zh},
    }
