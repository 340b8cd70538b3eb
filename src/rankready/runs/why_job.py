"""`why` for a job of this machine: fetch what its servers hold, then read the job's folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.diagnose.job import read_job
from rankready.diagnose.verdict import Outcome
from rankready.model.errors import PlanError, RankreadyError
from rankready.model.job import Cause
from rankready.model.text import Text
from rankready.runs.guard_file import JOB_ID
from rankready.runs.job_logs import newest_job
from rankready.runs.why import exit_of, why
from rankready.runs.why_confirm import confirm
from rankready.runs.why_fetch import Asked, fetch
from rankready.runs.why_folder import read_json
from rankready.runs.why_selected import SELECTED

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site

BEFORE_S = 60.0
FAILED = (Cause.RANK_FAILED.value, Cause.SERVER_LOST.value, Cause.START_FAILED.value)
TOLD = ("outcome", "cause", "suspects", "waited", "evidence", "not_checked", "remedy", "check", "confirmation")


async def why_cluster(site: Site, job: str | None, *, collect: bool = True, look: bool = True) -> Record:
    """Name the first fault of a job; raises PlanError for what is no job of this machine.

    ``collect``: fetch first what servers hold of its logs. ``look``: let the checks that can see the fault look for it
    on the cluster as it is now (``extra["confirmation"]``); the outcome stays the logs' own.
    """
    chosen = job or newest_job(site.home) or ""
    if JOB_ID.fullmatch(chosen) is None:
        what = repr(chosen) if chosen else "nothing"
        raise PlanError(f"{what} is no job of this machine, and no folder; list jobs by: rankready ps")
    folder = site.home / "jobs" / chosen
    if not folder.is_dir():
        raise PlanError(f"{chosen}: nothing of this job is here; rankready logs {chosen} fetches what servers hold")
    if collect:
        await _fetch(site, chosen, folder)
    found = await why(folder, cluster=site.cluster.name)
    seen = await confirm(site, found.extra) if look else None
    more = {} if seen is None else {"confirmation": seen}
    return replace(found, simulated=site.cluster.simulated, extra={"job": chosen, **found.extra, **more})


async def why_job(site: Site, job_folder: Path, *, collect: bool = True) -> dict[str, Any]:
    """Return what `why` makes of a job that has just failed, for the record of `run`: the keys of its JSON."""
    found = await why_cluster(site, job_folder.name, collect=collect)
    return {key: found.extra[key] for key in TOLD if key in found.extra} | {"exit": exit_of(dict(found.extra))}


async def with_why(site: Site, record: Record) -> Record:
    """Add to a failed job's record what failed first, as ``extra["why"]``, and say it; others pass as they are."""
    folder = record.extra.get("folder")
    if record.extra.get("cause") not in FAILED or not isinstance(folder, str):
        return record
    try:
        found = await why_job(site, Path(folder))
    except (RankreadyError, OSError) as error:  # the job's own record must not be lost over what failed after it
        return replace(record, extra={**record.extra, "why": _unasked(site, str(error))})
    if found["cause"] is not None:
        title = found["cause"]["title"]
        site.say(Text(en=f"first fault: {title.en}", zh=f"根因：{title.zh}"))
        if "confirmation" in found:
            site.say(found["confirmation"]["text"])
    else:
        site.say(Text(en="first fault: not known; more: rankready why", zh="根因：未知；更多：rankready why"))
    return replace(record, extra={**record.extra, "why": found})


def _unasked(site: Site, reason: str) -> dict[str, Any]:
    """Say that the first fault was not looked for, and why."""
    site.say(
        Text(
            en=f"first fault: not looked for: {reason}; try: rankready why",
            zh=f"根因：未能查找：{reason}；可重试：rankready why",
        )
    )
    nobody: dict[str, Any] = {key: [] for key in ("suspects", "waited", "evidence")}
    told = {"outcome": Outcome.UNKNOWN.value, "cause": None, **nobody, "not_checked": [f"everything: {reason}"]}
    return {**told, "remedy": None, "check": "", "exit": exit_of(told)}


async def _fetch(site: Site, job: str, folder: Path) -> None:
    """Bring here once what matters of the servers' own logs; what is missing is told as not checked."""
    names = {n["server"] for n in _list(read_json(folder / "spec.json"), "nodes")}
    ranks = read_job(read_json(folder / "job.json"), None).processes
    names |= {p.host for p in ranks}
    servers = [s for s in site.cluster.servers if s.name in names or not names]
    if all((folder / s.name / SELECTED).is_file() or (folder / s.name / "ascend").is_dir() for s in servers):
        return
    site.say(Text(en="reading the servers' logs", zh="正在读取各服务器日志"))
    pids = {s.name: tuple(p.pid for p in ranks if p.host == s.name and p.pid is not None) for s in servers}
    silent = await fetch(site, Asked(job=job, folder=folder, since=_since(folder), pids=pids), servers)
    for name, reason in silent.items():
        site.say(Text(en=f"{name}: not read: {reason}", zh=f"{name}：未读取：{reason}"))


def _since(folder: Path) -> float:
    """A job's first log may be older than our own note of its start."""
    try:
        return (folder / "spec.json").stat().st_mtime - BEFORE_S
    except OSError:
        return 0.0


def _list(told: Any, key: str) -> list[dict[str, Any]]:  # noqa: ANN401  (a file of ours, but a file)
    spec = told.get("spec") if isinstance(told, dict) else None
    found = spec.get(key) if isinstance(spec, dict) else None
    return (
        [n for n in found if isinstance(n, dict) and isinstance(n.get("server"), str)]
        if isinstance(found, list)
        else []
    )
