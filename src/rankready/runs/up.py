"""The whole guide, one step after another: topology, addresses, proof, firewall, cabling, script, job, logs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankready.model.finding import Outcome
from rankready.model.record import Record, Step
from rankready.model.text import Text
from rankready.runs import firewall
from rankready.runs.apply import How, apply
from rankready.runs.cabling import cabling
from rankready.runs.check import check
from rankready.runs.job_logs import logs
from rankready.runs.launch import launch
from rankready.runs.mesh import mesh
from rankready.runs.plan import draw, record_of
from rankready.runs.vet import vet_script

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.runs.job import RunOptions
    from rankready.runs.job_spec import Asked
    from rankready.runs.site import Site

TOPOLOGY = ("NET001", "CAB001", "HST001", "HST002")
SETTLE_S = (1.0, 2.0, 4.0)  # a device judges its network anew some seconds after its target was set (facts/hccn 3.3)
HEALTH = "NET008"

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
    """One step of the guide: its verb, what it is about, and what it does."""

    verb: str
    title: Text
    work: Work
    changes: bool = False


@dataclass(slots=True)
class _Walk:
    """What has been done so far."""

    steps: list[Step] = field(default_factory=list)
    last: Record | None = None
    extra: dict[str, Any] = field(default_factory=dict)


async def up(site: Site, wanted: Wanted) -> Record:
    """Walk through the guide; ends at the first step that is not as it should be, with that step's findings."""
    walk = _Walk()
    stages = stages_for(wanted)
    for number, stage in enumerate(stages, start=1):
        site.say(Text(en=f"[{number}/{len(stages)}] {stage.title.en}", zh=f"[{number}/{len(stages)}] {stage.title.zh}"))
        began = time.monotonic()
        record = await stage.work(site.fresh(), wanted)
        walk.steps.append(Step(verb=stage.verb, exit=record.exit, seconds=time.monotonic() - began, note=_note(record)))
        walk.last = record
        if stage.verb in ("run", "mesh"):
            walk.extra |= record.extra
        if record.exit:
            break
    return _result(site, walk)


def _result(site: Site, walk: _Walk) -> Record:
    last = walk.last
    if last is None:
        return site.record("up", 0)
    stopped = last.exit != 0
    return site.record(
        "up",
        last.exit,
        steps=tuple(walk.steps),
        verdicts=last.verdicts if stopped else (),
        plan=last.plan if stopped else None,
        extra={**walk.extra, **(last.extra if stopped else {}), "stopped_at": walk.steps[-1].verb if stopped else None},
    )


def stages_for(wanted: Wanted) -> tuple[Stage, ...]:
    """Return the steps in the guide's order; a dry run has those that change nothing."""
    return tuple(s for s in STAGES if not (wanted.dry_run and s.changes) and not _left_out(s, wanted))


def _left_out(stage: Stage, wanted: Wanted) -> bool:
    return stage.verb == "firewall" and wanted.firewall == "leave"


def _note(record: Record) -> str:
    """One line on what came of a step, in numbers; the same words in both languages."""
    if "coverage" in record.extra:
        coverage = record.extra["coverage"]
        return f"{coverage['proven']}/{coverage['planned']}"
    if record.extra.get("ranks"):
        ranks = record.extra["ranks"]
        return f"{sum(1 for r in ranks if r['exit'] == 0)}/{len(ranks)}"
    if record.verdicts:
        passed = sum(1 for v in record.verdicts if v.outcome in (Outcome.PASS, Outcome.SKIP))
        return f"{passed}/{len(record.verdicts)}"
    return str(record.extra.get("changed", ""))


async def _topology(site: Site, _: Wanted) -> Record:
    return await check(site, only=TOPOLOGY, verb="topology")


async def _addresses(site: Site, wanted: Wanted) -> Record:
    drawn = await draw(site)
    if wanted.dry_run:
        return record_of(site, drawn)
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
    if wanted.dry_run or not drawn.steps:
        return await firewall.status(site)
    question = Text(en=f"change these {len(drawn.steps)} firewall rules?", zh=f"做这 {len(drawn.steps)} 项防火墙修改？")
    wanted.agree(site.record("firewall", 1), drawn.lines(), question)
    return await firewall.carry(site, drawn)


async def _cabling(site: Site, _: Wanted) -> Record:
    return await cabling(site)


async def _vet(site: Site, wanted: Wanted) -> Record:
    return vet_script(wanted.script, cluster=site.cluster.name)


async def _run(site: Site, wanted: Wanted) -> Record:
    return await launch(site, wanted.asked, wanted.options)


async def _logs(site: Site, wanted: Wanted) -> Record:
    return await logs(site, None, wanted.out)


STAGES = (
    Stage(
        verb="topology",
        title=Text(en="topology: devices, links, neighbours", zh="拓扑：设备、链路、邻居"),
        work=_topology,
    ),
    Stage(verb="apply", title=Text(en="addresses by rule", zh="按规则配置地址"), work=_addresses, changes=True),
    Stage(verb="check", title=Text(en="every rule of the catalogue", zh="逐条检查"), work=_proof),
    Stage(verb="mesh", title=Text(en="device to device, every pair", zh="设备之间逐对连通性"), work=_mesh),
    Stage(verb="firewall", title=Text(en="host firewalls", zh="主机防火墙"), work=_firewall, changes=True),
    Stage(verb="cabling", title=Text(en="cabling by LLDP", zh="用 LLDP 核对线缆"), work=_cabling),
    Stage(verb="vet", title=Text(en="the training script", zh="训练脚本"), work=_vet),
    Stage(verb="run", title=Text(en="sync and run", zh="同步并运行"), work=_run, changes=True),
    Stage(verb="logs", title=Text(en="logs of all servers", zh="收集所有服务器的日志"), work=_logs, changes=True),
)
