"""Device-to-device reachability: who was proven to reach whom, and who is to blame where not.

The audit comes first (links, addresses, masks, cables): what it decides needs no probe. Each server walks its own list
of calls, without a barrier between servers, so that one slow device costs nobody else's time (facts/mesh 5).
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from rankready.kind.check import verdicts
from rankready.mesh.certificate import certificate
from rankready.mesh.clues import gather
from rankready.mesh.coverage import coverage, unmeasured
from rankready.mesh.direction import watches
from rankready.mesh.follow import follow_up
from rankready.mesh.localise import localise
from rankready.mesh.repeat import repeats
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import known_faults, mesh_verdicts
from rankready.model.finding import Outcome
from rankready.model.observed.device import DeviceAddress, DeviceHeld, Link
from rankready.model.observed.host import Reached
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended
from rankready.runs.mesh_direction import watched
from rankready.runs.mesh_log import Log
from rankready.runs.mesh_pace import LEVELS, Pace
from rankready.runs.mesh_preview import grade, grade_text, preview
from rankready.runs.mesh_walk import Walk
from rankready.runs.observe import product
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.mesh.clues import Clues
    from rankready.mesh.coverage import Coverage
    from rankready.mesh.direction import Trial
    from rankready.mesh.probe import Mode, Probe
    from rankready.mesh.schedule import Schedule
    from rankready.mesh.suspect import Direction, Suspect
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.record import Record
    from rankready.runs.site import Site

AUDIT = (
    "NET001",
    "NET002",
    "NET003",
    "NET004",
    "NET005",
    "NET006",
    "NET007",
    "NET012",
    "TLS001",
    "CAB",
    "HST001",
    "HST020",
)
WAVES = 3  # follow-up waves at most (facts/mesh 9, step 3)
SAMPLES = 3  # servers that measure how long a call takes before the rest begins, and calls of each
UNREACHED = "HST001"
_FEW = 4  # devices that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much to prove. ``mode`` None: directed up to 32 servers, sparse beyond.

    ``packets``: the plan is repeated until each device has sent or answered as many; a small loss shows in many packets
    only (facts/mesh 7). ``max_time_s`` and ``max_probes`` 0: no limit. ``per_host``: calls of one server at a time; 0:
    find out, upward from one. ``resume``: go on with an interrupted run of the same plan. ``allow_busy``: call devices
    that a job holds, too.
    """

    mode: Mode | None = None
    sparse_k: int = 8
    max_time_s: float = 0.0
    max_probes: int = 0
    packets: int = 0
    per_host: int = 1
    resume: bool = False
    allow_busy: bool = False
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
        await _probed(site, scene, limits, walk)
        walk.trials = await _watched(site, scene, walk)
        seconds = round(time.monotonic() - began, 3)
        done = coverage(scene.plan, walk.ledger).unmeasured == 0
    finally:
        log.close(done=done)
    record = _judged(site, scene, walk, strict=limits.strict, seconds=seconds)
    kept = certificate(walk.ledger, began=log.began, ended=now_utc())
    proof = {"file": str(log.certify(kept)), "digest": kept["digest"], "complete": kept["complete"]}
    return replace(record, extra={**record.extra, "certificate": proof})


async def _audited(site: Site, limits: Limits) -> _Scene:
    chosen = checks(AUDIT)
    facts = {need for c in chosen for need in c.needs} | {DeviceAddress, DeviceHeld, Link, Reached}
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
    walk.allow_busy = limits.allow_busy
    for server in scene.cluster.servers:  # who did not answer the audit is not waited for a second time
        if (gap := scene.seen.gap(server.place, Reached)) is not None:
            walk.of[server.name].stalled, walk.of[server.name].stalled_zh = gap.reason, gap.zh
    if many := len(log.ledger):
        site.say(Text(en=f"going on: {many} results are known", zh=f"继续上次运行：已有 {many} 个结果"))
    if limits.max_probes:
        walk.left = limits.max_probes
    return walk


async def _probed(site: Site, scene: _Scene, limits: Limits, walk: Walk) -> None:
    """Measure a few calls, tell the cost, make the rest, and follow up what the audit does not explain."""
    names = [s.name for s in scene.cluster.servers]
    if limits.max_time_s:
        walk.until = time.monotonic() + limits.max_time_s
    _tell_held(site, scene, limits)
    await walk.make(_sample(site, scene.plan, walk))
    site.say(preview(scene.plan, walk, limits.per_host))
    await walk.make({name: scene.plan.calls(name) for name in names})
    await _repeated(site, scene, walk, repeats(scene.plan, limits.packets) - 1)
    explained = {d for d in scene.cluster.devices() if scene.clues.root(d)}
    for _ in range(WAVES):
        open_ = walk.ledger.without(devices=explained)
        more = follow_up(scene.cluster, product(scene.cluster), scene.seen, open_, audit=scene.audit)
        if not more:
            break
        await walk.make_beyond(_grouped(more))


def _tell_held(site: Site, scene: _Scene, limits: Limits) -> None:
    """Say before the first call which devices a job holds."""
    held = [str(device) for device, fact in scene.seen.each(DeviceHeld) if fact.held]
    if not held:
        return
    few = ", ".join(held[:_FEW]) + (" …" if len(held) > _FEW else "")
    en, zh = ("probed all the same", "仍然探测") if limits.allow_busy else ("left in peace", "不探测")
    site.say(
        Text(
            en=f"{len(held)} devices are held by jobs and {en}: {few}", zh=f"{len(held)} 个设备被作业占用，{zh}：{few}"
        )
    )


async def _repeated(site: Site, scene: _Scene, walk: Walk, times: int) -> None:
    """Probe the whole plan again and again, for losses that a few packets do not show."""
    if times < 1:
        return
    more = times * sum(scene.plan.calls_of(s.name) for s in scene.cluster.servers)
    site.say(
        Text(
            en=f"all of it {times} times more, {more:,} probes, to see small losses",
            zh=f"全部再重复 {times} 次，共 {more:,} 次探测，以发现小比例丢包",
        )
    )
    for _ in range(times):
        await walk.make_beyond({s.name: scene.plan.calls(s.name) for s in scene.cluster.servers})


async def _watched(site: Site, scene: _Scene, walk: Walk) -> list[Trial]:
    """Learn which way packets are lost at the suspects that nothing else explains."""
    where = localise(scene.cluster, scene.seen, walk.ledger, audit=_audit_now(scene, walk))
    return await watched(site, scene.cluster, walk, watches(scene.cluster, product(scene.cluster), where))


def _sample(site: Site, plan: Schedule, walk: Walk) -> dict[str, list[Probe]]:
    """Return the first open calls of a few servers that answer, spread over the cluster."""
    able = [s.name for s in site.cluster.servers if s.name not in site.fleet.lost and not walk.of[s.name].stalled]
    some = able[:: max(1, len(able) // SAMPLES)][:SAMPLES]
    known = walk.ledger.known
    return {
        name: list(islice((p for p in plan.calls(name) if not known(p.source, p.target)), SAMPLES)) for name in some
    }


def _grouped(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    found: dict[str, list[Probe]] = {}
    for probe in probes:
        found.setdefault(probe.source.name, []).append(probe)
    return found


def _judged(site: Site, scene: _Scene, walk: Walk, *, strict: bool, seconds: float) -> Record:
    results = walk.ledger
    audit = _audit_now(scene, walk)
    clues = gather(scene.cluster, scene.seen, audit)
    probed = mesh_verdicts(scene.cluster, scene.seen, results, audit=audit, schedule=scene.plan, trials=walk.trials)
    faulty = known_faults((*audit, *probed), clues)
    failing = {v.place for v in probed if v.outcome is Outcome.FAIL}
    suspects = localise(scene.cluster, scene.seen, results, audit=audit, trials=walk.trials).suspects
    explained = [s for s in suspects if failing.isdisjoint(s.places) and clues.known(*s.places)]
    covered = coverage(scene.plan, results, faulty)
    pace = [w.pace for w in walk.of.values() if w.made]
    extra = {
        "coverage": {
            **asdict(covered),
            "seconds": seconds,
            "mode": scene.plan.mode.value,
            "grade": grade(scene.plan),
            "packets": results.packets,
            "not_measured": dict(unmeasured(results)),
            "per_host": max((p.best for p in pace), default=1),
            "busy_servers": sum(p.busy for p in pace),
        },
        "suspects": [_suspect(s) for s in suspects if s not in explained],
        "explained": [{**_suspect(s), "by": clues.known(*s.places)} for s in explained],
        "notes": _notes(scene.plan, covered),
    }
    return site.judged("mesh", (*audit, *probed), strict=strict, extra=extra)


def _audit_now(scene: _Scene, walk: Walk) -> tuple[Verdict, ...]:
    fell = {name: walked.stalled for name, walked in walk.of.items() if walked.stalled}
    return tuple(_now(v, {**fell, **walk.lost}) for v in scene.audit)


def _now(verdict: Verdict, lost: dict[str, str]) -> Verdict:
    """A server that answered the audit and was lost since is not known any more."""
    if verdict.code != UNREACHED or verdict.outcome is not Outcome.PASS or verdict.place.name not in lost:
        return verdict
    return replace(verdict, outcome=Outcome.UNKNOWN, reason=f"lost while it was probing: {lost[verdict.place.name]}")


def _notes(plan: Schedule, covered: Coverage) -> list[dict[str, str]]:
    text = grade_text(plan)
    notes = [{"en": text.en, "zh": text.zh}] if grade(plan) != "proof" else []
    if not covered.reason:
        return notes
    return [*notes, {"en": f"not measured: {covered.reason}", "zh": f"未测：{covered.reason_zh}"}]


def _suspect(suspect: Suspect) -> dict[str, Any]:
    return {
        "places": [str(p) for p in suspect.places],
        "kind": suspect.kind.value,
        "witnesses": suspect.witnesses,
        "certainty": suspect.certainty.value,
        "next_test": {"en": suspect.next_test.en, "zh": suspect.next_test.zh},
        "direction": None if suspect.direction is None else _direction(suspect.direction),
    }


def _direction(found: Direction) -> dict[str, Any]:
    why = {} if found.why is None else {"why": {"en": found.why.en, "zh": found.why.zh}}
    return {
        "way": found.way.value,
        "reference": str(found.reference),
        "lost_towards": found.towards,
        "lost_from": found.away,
        **why,
    }
