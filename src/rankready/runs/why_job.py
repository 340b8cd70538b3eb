"""`why` for a job of this machine: fetch what its servers hold, then read the job's folder."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankready.model.errors import PlanError
from rankready.model.text import Text
from rankready.runs.guard_file import JOB_ID
from rankready.runs.job_logs import Bounds, logs, newest_job
from rankready.runs.why import exit_of, why

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.record import Record
    from rankready.runs.site import Site

BOUNDS = Bounds(server=64 << 20, file=24 << 20)
COLLECTED = ".collected"


async def why_cluster(site: Site, job: str | None, *, collect: bool = True) -> Record:
    """Name the first fault of a job; raises PlanError for what is no job of this machine."""
    chosen = job or newest_job(site.home) or ""
    if JOB_ID.fullmatch(chosen) is None:
        what = repr(chosen) if chosen else "nothing"
        raise PlanError(f"{what} is no job of this machine, and no folder; list jobs by: rankready ps")
    folder = site.home / "jobs" / chosen
    if not folder.is_dir():
        raise PlanError(f"{chosen}: nothing of this job is here; rankready logs {chosen} fetches what servers hold")
    if collect and not (folder / COLLECTED).is_file():
        await _fetch(site, chosen, folder)
    found = await why(folder, cluster=site.cluster.name)
    return replace(found, simulated=site.cluster.simulated, extra={"job": chosen, **found.extra})


async def why_job(site: Site, job_folder: Path, *, collect: bool = True) -> dict[str, Any]:
    """Return what `why` knows of a job that has just failed, for the record of `run`: the keys of its JSON."""
    found = await why_cluster(site, job_folder.name, collect=collect)
    keys = ("outcome", "cause", "suspects", "waited", "evidence", "not_checked", "remedy")
    return {key: found.extra[key] for key in keys if key in found.extra} | {"why_exit": exit_of(dict(found.extra))}


async def _fetch(site: Site, job: str, folder: Path) -> None:
    """Bring the servers' own logs here once; what is missing is told as not checked."""
    site.say(Text(en="fetching the servers' logs", zh="正在获取各服务器日志"))
    found = await logs(site, job, None, BOUNDS)
    (folder / COLLECTED).write_text(json.dumps({"gaps": found.extra["gaps"]}) + "\n", encoding="utf-8")
