"""`run` as the user knows it: look, bring the files, start, stay until the end."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankready import catalog
from rankready.kind.launcher import Launcher
from rankready.model.errors import PlanError
from rankready.model.finding import Outcome
from rankready.model.job import Cause
from rankready.model.ranks import JOB_FOLDER, OWN_NIC
from rankready.model.record import Record, Step
from rankready.model.text import Text
from rankready.runs.job import new_job_id, run
from rankready.runs.job_spec import job_spec
from rankready.runs.preflight import not_learned, preflight, stops
from rankready.runs.preflight_script import READ, by_reading
from rankready.runs.site import now_utc
from rankready.runs.sync import sync
from rankready.runs.why_job import with_why

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.ranks import LaunchSpec, RankCommand
    from rankready.runs.job import RunOptions
    from rankready.runs.job_spec import Asked
    from rankready.runs.site import Site


INTERRUPTED = 130


def launcher_named(name: str) -> Launcher:
    """Find a launcher; raises PlanError naming those that there are."""
    found = {item.name: item for item in catalog.offered("launchers", "LAUNCHER", Launcher)}
    if name not in found:
        raise PlanError(f"no launcher {name!r}; there are: {', '.join(found)}")
    return found[name]


async def launch(site: Site, asked: Asked, options: RunOptions, *, judged: Collection[str] = ()) -> Record:
    """Run a job from what the user asked for; the record is that of the first step that failed, or the job's own.

    A job that failed is started again, at most ``max_restarts`` times, each as a job of its own (``JOB-r1``), after
    its devices are free and the servers were looked at again. ``extra["restarts"]``: job, cause and first failure of
    each that came before. ``judged``: codes of the catalogue that the caller has judged a moment ago.
    """
    job, before = new_job_id(), list[dict[str, Any]]()
    launcher = launcher_named(asked.launcher or site.cluster.job.launcher)
    first = job_spec(site.cluster, asked, job)
    refusal = await _looked_and_synced(site, asked, first, options, judged=judged)
    if refusal is not None:
        return refusal
    for number in range(options.max_restarts + 1):
        name = f"{job}-r{number}" if number else job
        spec = replace(first, job=name, restart=number, max_restarts=options.max_restarts)
        if number and (refusal := await _looked(site, spec, options, script=True)) is not None:
            return _with(refusal, before)
        record = await run(site, spec, launcher, options)
        if number == options.max_restarts or not _may_restart(site, record):
            break
        before.append({key: record.extra[key] for key in ("job", "cause", "first_failure")})
        site.say(
            Text(
                en=f"starting again, {number + 1} of at most {options.max_restarts} times",
                zh=f"重新启动，第 {number + 1} 次，最多 {options.max_restarts} 次",
            )
        )
    return await with_why(site, _with(record, before))


def _with(record: Record, before: list[dict[str, Any]]) -> Record:
    return replace(record, extra={**record.extra, "restarts": before}) if before else record


def _may_restart(site: Site, record: Record) -> bool:
    """Tell whether a job may be started again: it failed by itself, and nothing of it is left anywhere."""
    extra = record.extra
    if record.exit in (0, INTERRUPTED) or extra["cause"] not in (Cause.RANK_FAILED, Cause.SERVER_LOST):
        return False
    held = [*extra.get("still_held", {}), *extra["left"]]
    if held:
        told = ", ".join(held)
        site.say(Text(en=f"not started again: held still: {told}", zh=f"不再重新启动：仍被占用：{told}"))
    return not held


async def _looked_and_synced(
    site: Site, asked: Asked, spec: LaunchSpec, options: RunOptions, *, judged: Collection[str]
) -> Record | None:
    script = asked.script
    vetted = script is not None and script.suffix == ".py" and READ not in judged
    read = by_reading(script, force=options.force) if vetted and script is not None else ()
    refusal = await _looked(site, spec, options, script=script is None, judged=judged, read=read)
    if refusal is not None:
        return refusal
    if script is not None or asked.extra_paths:
        paths: list[Path] = [*([script] if script else []), *asked.extra_paths]
        synced = await sync(site, paths, spec.workdir)
        if synced.exit:
            site.say(Text(en="the job was not started: sync failed", zh="作业未启动：sync 失败"))
            return synced
    return None


async def _looked(  # noqa: PLR0913  (one look: at the servers, and what was read of the script)
    site: Site,
    spec: LaunchSpec,
    options: RunOptions,
    *,
    script: bool,
    judged: Collection[str] = (),
    read: tuple[Verdict, ...] = (),
) -> Record | None:
    started, since = now_utc(), time.monotonic()
    verdicts = (*read, *await preflight(site, spec, script=script, force=options.force, judged=judged))
    if blind := tuple(v for v in verdicts if not_learned(v)):
        codes = ", ".join(dict.fromkeys(v.code for v in blind))
        told = blind[0].reason
        site.say(Text(en=f"not known before the start: {codes} ({told})", zh=f"启动前未能确认：{codes}（{told}）"))
    for warned in (v.findings[0] for v in verdicts if v.outcome is Outcome.WARN):
        text, where = warned.message, warned.place
        site.say(Text(en=f"warning: {where}: {warned.code}: {text.en}", zh=f"警告：{where}：{warned.code}：{text.zh}"))
    code = stops(verdicts)
    return _stopped(site, spec, verdicts, (code, started, since)) if code else None


def _stopped(site: Site, spec: LaunchSpec, verdicts: tuple[Verdict, ...], end: tuple[int, str, float]) -> Record:
    code, started, since = end
    bad = tuple(v for v in verdicts if v.outcome not in (Outcome.PASS, Outcome.SKIP))
    site.say(Text(en="the job was not started", zh="作业未启动"))
    for verdict in bad:
        reason = (
            verdict.findings[0].message
            if verdict.findings
            else Text(verdict.reason, verdict.reason_zh or verdict.reason)
        )
        site.say(
            Text(en=f"{verdict.place}: {verdict.code}: {reason.en}", zh=f"{verdict.place}：{verdict.code}：{reason.zh}")
        )
    seconds = time.monotonic() - since
    return Record(
        verb="run",
        cluster=site.cluster.name,
        started=started,
        seconds=seconds,
        exit=code,
        simulated=site.cluster.simulated,
        servers=len(spec.nodes),
        devices=spec.world_size,
        verdicts=verdicts,
        steps=(Step(verb="preflight", exit=code, seconds=seconds),),
        extra={"job": None, "cause": "not_started", "ranks": [], "first_failure": None},
    )


def dry_run(cluster: Cluster, asked: Asked, options: RunOptions) -> Record:
    """Say exactly what each server would execute; nothing is asked of any server."""
    spec = job_spec(cluster, asked, new_job_id())
    launcher = launcher_named(asked.launcher or cluster.job.launcher)
    shown: list[dict[str, Any]] = []
    for node in spec.nodes:
        commands = launcher.commands(spec, node)
        shown.append({"server": node.server, "node_rank": node.node_rank, "processes": [_process(c) for c in commands]})
        for command in commands:
            options.emit(f"{node.server}: {shell_line(spec, command)}")
    return Record(
        verb="run",
        cluster=cluster.name,
        started=now_utc(),
        seconds=0.0,
        exit=0,
        simulated=cluster.simulated,
        servers=len(spec.nodes),
        devices=spec.world_size,
        extra={"job": None, "dry_run": True, "servers_run": shown, "ranks": [], "first_failure": None},
    )


def _process(command: RankCommand) -> dict[str, Any]:
    return {
        "rank": command.rank,
        "local_rank": command.local_rank,
        "argv": list(command.argv),
        "env": dict(command.env),
        "defaults": dict(command.defaults),
        "unset": list(command.unset),
        "log": command.log,
    }


def shell_line(spec: LaunchSpec, command: RankCommand) -> str:
    """Return one process as a line that a person could type on the server: what the guard does, word by word."""
    clear = "".join(f" -u {name}" for name in command.unset if not name.endswith("*"))
    if families := "|".join(name[:-1] for name in command.unset if name.endswith("*")):
        clear += f" $(env | sed -nE 's/^(({families})[^=]*)=.*/-u \\1/p')"
    words = "".join(f" {k}=${{{k}-{v}}}" for k, v in command.defaults.items() if k not in command.env)
    words += "".join(f" {k}={_nic(command) if v == OWN_NIC else _quoted(spec, v)}" for k, v in command.env.items())
    source = f". {shlex.quote(spec.setup)} && " if spec.setup else ""
    argv = " ".join(_quoted(spec, w) for w in command.argv)
    folder = spec.workdir if re.fullmatch(r"~[\w./-]*", spec.workdir) else shlex.quote(spec.workdir)
    return f"cd {folder} && {source}env{clear}{words} {argv}"


def _nic(command: RankCommand) -> str:
    """Return shell words that find the interface with the node's address."""
    address = re.escape(command.env.get("HCCL_IF_IP", ""))
    return f"$(ip -o addr | sed -n 's|^[0-9]*: *\\([^ ]*\\) .* {address}/.*|\\1|p')"


def _quoted(spec: LaunchSpec, text: str) -> str:
    """Quote for a shell; the job's folder stands as the path that the guard puts in its place."""
    own = f'"$HOME"/.rankready/jobs/{spec.job}'
    return own.join(shlex.quote(part) if part else "" for part in text.split(JOB_FOLDER)) or "''"
