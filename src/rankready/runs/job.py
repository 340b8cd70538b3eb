"""`run`: start a job on all servers, watch over it, end it everywhere when it fails anywhere (facts/launch 5.5)."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankready.model.job import Phase
from rankready.model.plain import plain
from rankready.model.record import Record
from rankready.runs.controller import Controller, RunOptions
from rankready.runs.devices_free import wait_until_free
from rankready.runs.job_folder import job_json
from rankready.runs.killed import how_it_ended
from rankready.runs.site import now_utc
from rankready.supervise.first import first_of, only_waited
from rankready.supervise.job import accounts

if TYPE_CHECKING:
    from rankready.kind.launcher import Launcher
    from rankready.model.job import JobState, RankEnd
    from rankready.model.ranks import LaunchSpec
    from rankready.model.text import Text
    from rankready.runs.site import Site

ONE_LOOK_S = 0.001

__all__ = ["RunOptions", "new_job_id", "result", "run"]


def new_job_id() -> str:
    """Return a job's name: when it was made, and four random bytes that make it one of its kind."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


async def run(site: Site, spec: LaunchSpec, launcher: Launcher, options: RunOptions) -> Record:
    """Start the job everywhere, and unless ``detach`` stay until it is over and its devices are free.

    ``extra``: job, phase, cause, ranks (rank, server, local_rank, exit, signal, started, ended), first_failure (the
    same, with how it ended, its log's last lines, and whether they only speak of a rank that it waited for) or null,
    left (server → processes that would not end), lost (servers whose connection did not come back), start (skew_s:
    seconds between the first and the last server's start), init (reached: how many ranks of world were seen with a
    connection to the master port; skew_s: seconds between the first and the last of them, null unless all were;
    missing: the others), still_held (device → who), not_checked. Exit 0 done, 1 failed, 3 not known (a server was
    lost), 130 interrupted.
    """
    started, since = now_utc(), time.monotonic()
    shares = {n.server: launcher.commands(spec, n) for n in spec.nodes}
    controller = Controller(site, spec, shares, options)
    controller.folder.write("spec.json", {"launcher": launcher.name, "spec": spec, "detached": options.detach})
    state = await controller.run()
    known = {link.name: (link.clock_offset_s, link.pids) for link in controller.links.values()}
    told = {"job": spec.job, "launcher": launcher.name, "started": started}
    controller.folder.write("job.json", {**told, **job_json(site.cluster, spec, known)})
    extra = await result(controller, state)
    controller.folder.write("result.json", extra)
    controller.folder.write("collect.json", {n.server: {"reachable": True, "gaps": []} for n in spec.nodes})
    return Record(
        verb="run",
        cluster=site.cluster.name,
        started=started,
        seconds=time.monotonic() - since,
        exit=controller.exit(),
        simulated=site.cluster.simulated,
        servers=len(spec.nodes),
        devices=spec.world_size,
        extra=extra,
    )


async def result(controller: Controller, state: JobState) -> dict[str, Any]:
    """Return the job's own parts of the record; once it is over, after its devices are free or were waited for."""
    first = first_of(state.failures, {(e.server, e.local_rank): controller.tail(e) for e in state.failures})
    first = first or state.first_failure
    skew = controller.skew()
    found: dict[str, Any] = {
        "job": controller.spec.job,
        "phase": state.phase.value,
        "cause": state.cause.value if state.cause else None,
        "ranks": [_shown(controller, end) for end in accounts(state)],
        "first_failure": None if first is None else await _first(controller, first),
        "left": {s: n for s, n in state.left.items() if n},
        "lost": [s for s in state.expected if s in state.lost or (s in state.gone and s not in controller.reasons)],
        "not_started": controller.reasons,
        "start": None if skew is None else {"skew_s": round(skew[0], 3), "servers": skew[1]},
        "init": controller.met(),
        "folder": str(controller.folder.path),
    }
    if state.phase is Phase.ENDED:
        options = controller.options  # who was there before a forced start may stay
        limit_s = min(options.free_s, ONE_LOOK_S) if options.force else options.free_s
        held = await wait_until_free(controller.site, controller.spec, limit_s)
        found |= {"still_held": held.holders, "not_checked": held.not_checked}
    return found


async def _first(controller: Controller, end: RankEnd) -> dict[str, Any]:
    tail = controller.tail(end)
    pid = controller.links[end.server].pids.get(end.local_rank)
    how: Text = await how_it_ended(controller.site, end, pid)
    waited = end.signal is None and only_waited(tail)
    return {**_shown(controller, end), "how": {"en": how.en, "zh": how.zh}, "tail": tail, "only_waited": waited}


def _shown(controller: Controller, end: RankEnd) -> dict[str, Any]:
    commands = {c.local_rank: c for c in controller.shares[end.server]}
    named = replace(end, rank=commands[end.local_rank].rank) if end.local_rank in commands else end
    found = plain(named)
    return dict(found) if isinstance(found, dict) else {}
