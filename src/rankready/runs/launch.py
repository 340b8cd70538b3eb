"""`run` as the user knows it: look, bring the files, start, stay until the end."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

from rankready import catalog
from rankready.kind.launcher import Launcher
from rankready.model.errors import PlanError
from rankready.model.finding import Outcome, exit_code
from rankready.model.record import Record, Step
from rankready.model.text import Text
from rankready.runs.job import new_job_id, run
from rankready.runs.job_spec import job_spec
from rankready.runs.preflight import preflight
from rankready.runs.site import now_utc
from rankready.runs.sync import sync

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.ranks import LaunchSpec, RankCommand
    from rankready.runs.job import RunOptions
    from rankready.runs.job_spec import Asked
    from rankready.runs.site import Site


def launcher_named(name: str) -> Launcher:
    """Find a launcher; raises PlanError naming those that there are."""
    found = {item.name: item for item in catalog.offered("launchers", "LAUNCHER", Launcher)}
    if name not in found:
        raise PlanError(f"no launcher {name!r}; there are: {', '.join(found)}")
    return found[name]


async def launch(site: Site, asked: Asked, options: RunOptions) -> Record:
    """Run a job from what the user asked for; the record is that of the first step that failed, or the job's own."""
    spec = job_spec(site.cluster, asked, new_job_id())
    launcher = launcher_named(asked.launcher or site.cluster.job.launcher)
    started, since = now_utc(), time.monotonic()
    script = asked.script
    verdicts = await preflight(site, spec, script=script is None)
    if code := exit_code(verdicts):
        return _stopped(site, verdicts, code, (started, since))
    if script is not None or asked.extra_paths:
        paths: list[Path] = [*([script] if script else []), *asked.extra_paths]
        synced = await sync(site, paths, spec.workdir)
        if synced.exit:
            site.say(Text(en="the job was not started: sync failed", zh="作业未启动：sync 失败"))
            return synced
    return await run(site, spec, launcher, options)


def _stopped(site: Site, verdicts: tuple[Verdict, ...], code: int, clock: tuple[str, float]) -> Record:
    bad = tuple(v for v in verdicts if v.outcome is not Outcome.PASS)
    site.say(Text(en="the job was not started", zh="作业未启动"))
    for verdict in bad:
        reason = verdict.findings[0].message if verdict.findings else Text(verdict.reason, verdict.reason)
        site.say(
            Text(en=f"{verdict.place}: {verdict.code}: {reason.en}", zh=f"{verdict.place}：{verdict.code}：{reason.zh}")
        )
    seconds = time.monotonic() - clock[1]
    return Record(
        verb="run",
        cluster=site.cluster.name,
        started=clock[0],
        seconds=seconds,
        exit=code,
        simulated=site.cluster.simulated,
        servers=len(site.cluster.servers),
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
    """Return one process as a line that a person could type on the server."""
    clear = "".join(f" -u {name}" for name in command.unset if not name.endswith("*"))
    given = "".join(f" {k}={shlex.quote(v)}" for k, v in {**command.defaults, **command.env}.items())
    source = f". {shlex.quote(spec.setup)} && " if spec.setup else ""
    words = " ".join(shlex.quote(w) for w in command.argv)
    folder = spec.workdir if spec.workdir.startswith("~") else shlex.quote(spec.workdir)
    return f"cd {folder} && {source}env{clear}{given} {words}"
