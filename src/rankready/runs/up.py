"""The whole guide, one step after another: topology, addresses, proof, firewall, cabling, script, job, logs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rankready.model.finding import Outcome
from rankready.model.record import Record, Step
from rankready.model.text import Text
from rankready.runs import firewall
from rankready.runs.apply import How, apply, settle
from rankready.runs.cabling import cabling
from rankready.runs.check import check
from rankready.runs.job_logs import logs
from rankready.runs.launch import dry_run, launch
from rankready.runs.mesh import mesh
from rankready.runs.plan import draw, record_of
from rankready.runs.preflight_catalogue import DEVICES, HOSTS
from rankready.runs.preflight_script import READ
from rankready.runs.vet import vet_script

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankready.runs.controller import RunOptions
    from rankready.runs.job_spec import Asked
    from rankready.runs.site import Site

TOPOLOGY = ("NET001", "CAB001", "HST001", "HST002")
SETTLE_S = (1.0, 2.0, 4.0)  # a device judges its network anew some seconds after its target was set (facts/hccn 3.3)
HEALTH = "NET008"
CHANGERS = ("apply", "firewall")

Agree = Callable[[Record, tuple[str, ...], Text], None]
"""Shows a plan, or lines that would be run, and asks; returns only when the operator agrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the operator asked `up` for. ``firewall``: open, disable or leave."""

    asked: Asked
    options: RunOptions
    agree: Agree
    script: Path
    firewall: str = "open"
    dry_run: bool = False
    out: Path | None = None


Work = Callable[["Site", Wanted], Awaitable[Record]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One step of the guide: its verb, what it is about, what it does.

    ``preview`` is what a dry run does instead, where ``work`` would change something. ``waits``: it means nothing
    while addresses are still to be set.
    """

    verb: str
    title: Text
    work: Work
    preview: Work | None = None
    waits: bool = False


@dataclass(slots=True)
class _Walk:
    """What has been done so far, and what is kept of it."""

    steps: list[Step] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=lambda: dict(_PARTS))
    left_out: list[Stage] = field(default_factory=list)

    def took(self, stage: Stage, record: Record, seconds: float) -> Step:
        step = Step(verb=stage.verb, exit=record.exit, seconds=seconds, note=_note(record))
        self.steps.append(step)
        self.records.append(record)
        if stage.verb in ("run", "mesh"):
            self.extra |= record.extra
        return step


_PARTS: Mapping[str, Any] = MappingProxyType(
    {"coverage": None, "suspects": [], "job": None, "ranks": [], "first_failure": None}
)
"""What the object of `--json` always holds, as the contract's page says, whatever step was reached."""


async def up(site: Site, wanted: Wanted) -> Record:
    """Walk through the guide; ends at the first step that is not as it should be, with that step's findings.

    A dry run walks all of it, changes nothing, and gathers every step's findings. ``extra``: coverage, suspects, job,
    ranks, first_failure (of the steps that were reached), stopped_at (a verb or null), next (a Text, where it stopped).
    """
    return await walk(site, wanted, tuple(s for s in STAGES if s.verb != "firewall" or wanted.firewall != "leave"))


async def walk(site: Site, wanted: Wanted, stages: tuple[Stage, ...]) -> Record:
    """Take these steps; each is told when it begins and when it is done."""
    done = _Walk()
    for number, stage in enumerate(stages, start=1):
        head = f"[{number}/{len(stages)}]"
        if wanted.dry_run and stage.waits and any(r.plan and r.plan.changes for r in done.records):
            done.left_out.append(stage)
            continue
        site.say(Text(en=f"{head} {stage.title.en}", zh=f"{head} {stage.title.zh}"))
        began = time.monotonic()
        work = (stage.preview if wanted.dry_run else None) or stage.work
        step = done.took(stage, await work(site.fresh(), wanted), time.monotonic() - began)
        site.say(_done(head, step, dry_run=wanted.dry_run))
        if step.exit and not wanted.dry_run:
            break
    return _previewed(site, done) if wanted.dry_run else _result(site, done, wanted)


def _done(head: str, step: Step, *, dry_run: bool) -> Text:
    mark = _PENDING if dry_run and step.exit == 1 and step.verb in CHANGERS else _MARKS.get(step.exit, _FAILED)
    tail = f"  {step.seconds:.1f} s{f'  {step.note}' if step.note else ''}"
    return Text(en=f"{head} {mark.en}{tail}", zh=f"{head} {mark.zh}{tail}")


_MARKS = {
    0: Text(en="ok", zh="完成"),
    3: Text(en="not known", zh="未知"),
    130: Text(en="interrupted", zh="已中断"),
}
_PENDING = Text(en="to be done", zh="待做")
_FAILED = Text(en="not as it should be", zh="不符合要求")


def _result(site: Site, done: _Walk, wanted: Wanted) -> Record:
    last = done.records[-1]
    if not last.exit:
        return site.record("up", 0, steps=tuple(done.steps), extra={**done.extra, "stopped_at": None})
    verb = done.steps[-1].verb
    return site.record(
        "up",
        last.exit,
        steps=tuple(done.steps),
        verdicts=last.verdicts,
        plan=last.plan,
        extra={**done.extra, **last.extra, "stopped_at": verb, "next": _next(verb, wanted)},
    )


def _previewed(site: Site, done: _Walk) -> Record:
    """Gather what a dry run saw: every verdict of a step that is not right, once; the plan; what was left out."""
    codes = {r.exit for r in done.records}
    verdicts = {(v.code, v.place): v for r in done.records if r.exit for v in r.verdicts}
    plan = next((r.plan for r in done.records if r.plan is not None), None)
    notes: list[Text] = []
    if done.left_out:
        verbs = ", ".join(s.verb for s in done.left_out)
        notes.append(
            Text(
                en=f"not looked at before the addresses are set: {verbs}",
                zh=f"设置地址之前不检查：{verbs}",
            )
        )
    notes.append(Text(en="a dry run: nothing was changed", zh="演练：未做任何修改"))
    return site.record(
        "up",
        1 if 1 in codes else max(codes),
        steps=tuple(done.steps),
        verdicts=tuple(verdicts.values()),
        plan=plan,
        extra={**done.extra, "dry_run": True, "stopped_at": None, "notes": notes},
    )


def _next(verb: str, wanted: Wanted) -> Text:
    """Say what shows whether it is mended; then `up` goes on where it stopped, as what is right is left alone."""
    look = _LOOK.get(verb, f"rankready {verb}").format(script=wanted.script)
    return Text(en=f"{look}; then the same `rankready up` again", zh=f"{look}；然后再次执行同一条 `rankready up`")


_LOOK = {
    "topology": f"rankready check --only {','.join(TOPOLOGY)}",
    "apply": "rankready plan",
    "firewall": "rankready firewall status",
    "vet": "rankready vet {script}",
    "run": "rankready why",
}


def _note(record: Record) -> str:
    """One line on what came of a step, in numbers; the same words in both languages."""
    if record.extra.get("coverage"):
        coverage = record.extra["coverage"]
        return f"{coverage['proven']}/{coverage['planned']}"
    if record.extra.get("ranks"):
        ranks = record.extra["ranks"]
        return f"{sum(1 for r in ranks if r['exit'] == 0)}/{len(ranks)}"
    if record.plan is not None and record.plan.changes:
        return str(len(record.plan.changes))
    if record.verdicts:
        passed = sum(1 for v in record.verdicts if v.outcome in (Outcome.PASS, Outcome.SKIP))
        return f"{passed}/{len(record.verdicts)}"
    return str(record.extra.get("changed", ""))


async def _topology(site: Site, _: Wanted) -> Record:
    return await check(site, only=TOPOLOGY, verb="topology")


async def _planned(site: Site, _: Wanted) -> Record:
    return record_of(site, await draw(site))


async def _addresses(site: Site, wanted: Wanted) -> Record:
    await settle(site)
    drawn = await draw(site)
    if drawn.plan.changes and not drawn.plan.problems:
        count = len(drawn.plan.changes)
        wanted.agree(record_of(site, drawn), (), Text(en=f"make these {count} changes?", zh=f"做这 {count} 项修改？"))
    return await apply(site, drawn, How())


async def _proof(site: Site, _: Wanted) -> Record:
    """Check everything but the firewall, which is a step of its own; wait while devices still judge their network."""
    record = await check(site, skip=("FWL",))
    for pause in SETTLE_S:
        bad = {v.code for v in record.verdicts if v.outcome is Outcome.FAIL}
        if bad != {HEALTH}:
            break
        site.say(Text(en="devices still judge their network, looking again", zh="设备仍在判断自身网络，稍后再看"))
        await asyncio.sleep(pause)
        record = await check(site, skip=("FWL",))
    return record


async def _mesh(site: Site, _: Wanted) -> Record:
    return await mesh(site)


async def _firewall(site: Site, wanted: Wanted) -> Record:
    drawn = await firewall.draw(site, wanted.firewall)
    if not drawn.steps:
        return await firewall.status(site)
    question = Text(en=f"change these {len(drawn.steps)} firewall rules?", zh=f"做这 {len(drawn.steps)} 项防火墙修改？")
    wanted.agree(site.record("firewall", 1), drawn.lines(), question)
    return await firewall.carry(site, drawn)


async def _firewall_drawn(site: Site, wanted: Wanted) -> Record:
    return await firewall.preview(site, await firewall.draw(site, wanted.firewall))


async def _cabling(site: Site, _: Wanted) -> Record:
    return await cabling(site)


async def _vet(site: Site, wanted: Wanted) -> Record:
    return vet_script(wanted.script, cluster=site.cluster.name)


async def _run(site: Site, wanted: Wanted) -> Record:
    # earlier steps have judged these a moment ago, read the script, and tried the ports
    proven = (READ, *DEVICES, *HOSTS, *(() if wanted.firewall == "leave" else ("FWL001",)))
    return await launch(site, wanted.asked, wanted.options, judged=proven)


async def _would_run(site: Site, wanted: Wanted) -> Record:
    record = dry_run(site.cluster, wanted.asked, replace(wanted.options, emit=lambda _: None))
    servers = record.extra["servers_run"]
    count = sum(len(s["processes"]) for s in servers)
    site.say(
        Text(
            en=f"would start {count} processes on {len(servers)} servers; `rankready run --dry-run` shows each",
            zh=f"将在 {len(servers)} 台服务器上启动 {count} 个进程；`rankready run --dry-run` 逐一列出",
        )
    )
    return site.record("run", record.exit, extra={"servers_run": servers})


async def _would_collect(site: Site, _: Wanted) -> Record:
    count = len(site.cluster.servers)
    site.say(Text(en=f"would collect the job's logs of {count} servers", zh=f"将收集 {count} 台服务器上该作业的日志"))
    return site.record("logs", 0)


async def _logs(site: Site, wanted: Wanted) -> Record:
    return await logs(site, None, wanted.out)


STAGES = (
    Stage(
        verb="topology",
        title=Text(en="topology: devices, links, neighbours", zh="拓扑：设备、链路、邻居"),
        work=_topology,
    ),
    Stage(verb="apply", title=Text(en="addresses by rule", zh="按规则配置地址"), work=_addresses, preview=_planned),
    Stage(verb="check", title=Text(en="every rule of the catalogue", zh="逐条检查"), work=_proof, waits=True),
    Stage(verb="mesh", title=Text(en="device to device, every pair", zh="设备之间逐对连通性"), work=_mesh, waits=True),
    Stage(verb="firewall", title=Text(en="host firewalls", zh="主机防火墙"), work=_firewall, preview=_firewall_drawn),
    Stage(verb="cabling", title=Text(en="cabling by LLDP", zh="用 LLDP 核对线缆"), work=_cabling),
    Stage(verb="vet", title=Text(en="the training script", zh="训练脚本"), work=_vet),
    Stage(verb="run", title=Text(en="sync and run", zh="同步并运行"), work=_run, preview=_would_run),
    Stage(
        verb="logs", title=Text(en="logs of all servers", zh="收集所有服务器的日志"), work=_logs, preview=_would_collect
    ),
)
