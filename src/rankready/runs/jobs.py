"""`ps`, `stop` and `attach`: jobs as the servers know them, whoever started them from wherever."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rankready.model.errors import PlanError, Unreadable
from rankready.model.job import Begin, Phase, Ready
from rankready.model.ranks import LaunchSpec, Node, RankCommand
from rankready.model.record import Record
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.runs.controller import Controller
from rankready.runs.guard_file import JOB_ID, JOBS, GuardTimes, ask_script, folder_of, read_answer
from rankready.runs.job import result
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.model.job import Action
    from rankready.runs.controller import RunOptions
    from rankready.runs.site import Site

ASK_S = 30.0
FOLLOWED = ("peer_failed", "peer_lost")  # what a guard was told, or missed, of another
BY_FAILURE = ("rank_failed", *FOLLOWED)
NAMED = 5
BUSY_PHASES = ("running", "starting", "unguarded")


class From(StrEnum):
    """From which moment `attach` shows a job's lines."""

    HERE = "here"  # where this machine's copy of each log ends
    START = "start"
    NOW = "now"


Standing = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One job, as its servers tell it: server → status object; ``silent`` servers could not be asked."""

    job: str
    servers: Mapping[str, Standing]
    silent: Mapping[str, str]

    @property
    def lease_s(self) -> float:
        """How long the job lives on when nobody watches; 0: no limit."""
        leases = [s.get("lease_s") for s in self.servers.values()]
        return min((float(x) for x in leases if isinstance(x, int | float) and x > 0), default=0.0)

    @property
    def phase(self) -> str:
        """The liveliest of its servers' phases."""
        phases = {str(s["phase"]) for s in self.servers.values()}
        return next((p for p in (*BUSY_PHASES, "ended") if p in phases), "unknown")


async def ps(site: Site) -> Record:
    """List every job that a server knows; ``extra["jobs"]``: job, phase, started, ranks, cause, servers (name → phase).

    Exit 3 where a server could not be asked.
    """
    started, since = now_utc(), time.monotonic()
    jobs, silent = await known_jobs(site)
    for name, reason in silent.items():
        site.say(Text(en=f"{name}: {reason}", zh=f"{name}：{reason}"))
    shown = [_shown(job) for job in jobs]
    extra = {"jobs": shown, "not_asked": [{"server": n, "reason": r} for n, r in silent.items()]}
    return replace(_blank(site, "ps", started, since), exit=3 if silent else 0, extra=extra)


def _shown(known: Known) -> dict[str, Any]:
    first = next(iter(known.servers.values()))
    causes = [str(s["cause"]) for s in known.servers.values() if s.get("cause") not in (None, "exit")]
    causes.sort(key=lambda cause: cause in FOLLOWED)
    bad = any(r.get("exit") or r.get("signal") for s in known.servers.values() for r in s["ranks"])
    return {
        "job": known.job,
        "phase": known.phase,
        "started": first.get("started"),
        "ranks": sum(len(s["ranks"]) for s in known.servers.values()),
        "failed": bad,
        "cause": causes[0] if causes else first.get("cause"),
        "lease_s": first.get("lease_s"),
        "detached": bool(first.get("detached")),
        "servers": {name: s["phase"] for name, s in known.servers.items()},
    }


async def known_jobs(site: Site) -> tuple[tuple[Known, ...], dict[str, str]]:
    """Ask every server for its job folders; newest job first. The second part: server → why it could not be asked."""

    async def one(_: Server, session: Session) -> list[Standing] | Gap:
        nonce = f"rr{secrets.token_hex(8)}"
        raw = await session.run(ask_script(nonce, "jobs", [JOBS]), timeout_s=ASK_S)
        try:
            found = read_answer(raw.stdout, nonce)["jobs"]
            return [j for j in found if JOB_ID.fullmatch(str(j["job"])) and isinstance(j["ranks"], list)]
        except (Unreadable, KeyError, TypeError) as error:
            return Gap(str(error))

    answers = await site.fleet.each(one)
    silent = {name: a.reason for name, a in answers.items() if isinstance(a, Gap)}
    by_job: dict[str, dict[str, Standing]] = {}
    for name, found in answers.items():
        for job in () if isinstance(found, Gap) else found:
            by_job.setdefault(job["job"], {})[name] = job
    jobs = tuple(Known(job=j, servers=by_job[j], silent=silent) for j in sorted(by_job, reverse=True))
    return jobs, silent


async def stop(site: Site, job: str, grace_s: float = 10.0) -> Record:
    """End a job on every server that knows it, and sweep by its tag where nobody guards it.

    ``extra["stopped"]``: server, phase, left (processes that would not end). Exit 0 nothing is left, 1 something is,
    3 a server could not be asked. Raises PlanError for what is no job, and where no server knows it and none runs
    anything of it.
    """
    started, since = now_utc(), time.monotonic()
    _refuse(job)

    async def one(_: Server, session: Session) -> Standing | Gap:
        nonce = f"rr{secrets.token_hex(8)}"
        raw = await session.run(_stop_script(job, nonce, grace_s), timeout_s=grace_s + ASK_S + 15)
        try:
            return read_answer(raw.stdout, nonce)
        except Unreadable as error:
            return Gap(str(error))

    answers = await site.fleet.each(one)
    if all(
        not isinstance(a, Gap) and a.get("event") == "swept" and not (a["found"] or a["left"]) for a in answers.values()
    ):
        raise PlanError(await _no_such(site, job))
    shown = []
    for name, found in answers.items():
        if isinstance(found, Gap):
            site.say(Text(en=f"{name}: {found.reason}", zh=f"{name}：{found.reason}"))
            shown.append({"server": name, "phase": "unknown", "left": [], "reason": found.reason})
        else:
            shown.append({"server": name, "phase": found.get("phase", "swept"), "left": found.get("left") or []})
    code = 1 if any(s["left"] for s in shown) else 3 if any(s["phase"] == "unknown" for s in shown) else 0
    return replace(_blank(site, "stop", started, since), exit=code, extra={"job": job, "stopped": shown})


async def _no_such(site: Site, job: str) -> str:
    jobs, silent = await known_jobs(site)
    return _unknown(job, jobs, silent)


def _unknown(job: str, jobs: Sequence[Known], silent: Mapping[str, str]) -> str:
    """Say which jobs there are, newest first, those that run before all others."""
    unasked = f" ({', '.join(silent)} could not be asked)" if silent else ""
    names = [f"{k.job} ({k.phase})" for k in sorted(jobs, key=lambda k: k.phase not in BUSY_PHASES)]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    known = f"they know {', '.join(names[:NAMED])}{more}" if names else "they know none"
    return f"no server knows a job {job}{unasked}; {known}: rankready ps"


def _stop_script(job: str, nonce: str, grace_s: float) -> bytes:
    """Where the folder is, its own guard file stops the job; elsewhere a sweep by tag is all that can be done."""
    folder = folder_of(job)
    call = f"exec python3 -I -S {folder}/guard.py stop {nonce} {folder} {grace_s:g}"
    own = f"if [ -f {folder}/guard.py ]; then {call}; fi\n"
    return b"{\n" + own.encode() + b"} </dev/null\n" + ask_script(nonce, "sweep", [job])


async def attach(site: Site, job: str, options: RunOptions, since: From = From.HERE) -> Record:
    """Watch a job that runs: its lines from a chosen moment on, and the end of all when one rank fails.

    Ctrl-C leaves; the job goes on. A detached job with a lease lives on as long as somebody watches it. ``extra`` as
    `run`'s, with ``attached`` (true) and ``lease_s`` (how long the job lives on when nobody watches; 0: no limit).
    Raises PlanError where no server knows the job, or a wanted rank is none of its own.
    """
    _refuse(job)
    started, began = now_utc(), time.monotonic()
    jobs, silent = await known_jobs(site)
    found = next((k for k in jobs if k.job == job), None)
    if found is None:
        raise PlanError(_unknown(job, jobs, silent))
    shares = _shares_of(found)
    known = {c.rank for commands in shares.values() for c in commands if c.rank is not None}
    if known and (strangers := sorted(options.ranks - known)):
        raise PlanError(f"{job} has no rank {strangers[0]}; its ranks are {min(known)} to {max(known)}")
    controller = Attached(site, _spec_of(site, found), shares, options)
    controller.begin_at(found, since)
    state = await controller.run()
    extra = {**await result(controller, state), "attached": True, "lease_s": found.lease_s}
    if state.phase is Phase.ENDED:
        controller.folder.write("result.json", extra)
    code = 0 if controller.left else controller.exit()
    return replace(_blank(site, "attach", started, began), exit=code, extra=extra)


class Attached(Controller):
    """A controller that comes later: leaving it ends nothing, and it confirms no start that was not its own."""

    left = False
    beat_s = 0.0

    def begin_at(self, known: Known, since: From) -> None:
        """Choose where each log is read from, and whether beats are ours to send."""
        if any(s.get("detached") for s in known.servers.values()):
            self.beat_s = known.lease_s
        for name, link in self.links.items():
            link.offsets = {c.log: self._offset(known, name, c.log, since) for c in self.shares[name]}

    def leaves(self) -> bool:
        """Tell whether the operator left."""
        return self.left

    def _offset(self, known: Known, server: str, log: str, since: From) -> int:
        match since:
            case From.START:
                return 0
            case From.NOW:
                sizes = known.servers[server].get("sizes")
                at = sizes.get(log, 0) if isinstance(sizes, dict) else 0
                return at if isinstance(at, int) else 0
            case From.HERE:
                return self.folder.size(server, log)

    def _do(self, action: Action) -> None:
        if not isinstance(action, Begin):
            super()._do(action)

    def _interrupted(self) -> None:
        self.left = True
        if self.beat_s:
            text = Text(
                en=f"left; the job goes on for {self.beat_s:g} s, longer when somebody attaches",
                zh=f"已离开；作业还会运行 {self.beat_s:g} 秒，期间有人 attach 则继续",
            )
        else:
            text = Text(en="left; the job goes on", zh="已离开；作业继续运行")
        self.site.say(text)

    async def _start_all(self) -> None:
        times = GuardTimes(lease_s=self.beat_s, grace_s=self.options.times.grace_s)
        for name in self.links:
            self.events.put_nowait(Ready(server=name))
        await asyncio.gather(*(link.follow(times, beats=bool(self.beat_s)) for link in self.links.values()))


def _refuse(job: str) -> None:
    if JOB_ID.fullmatch(job) is None:
        raise PlanError(f"{job!r} is no job; list them by: rankready ps")


def _spec_of(site: Site, known: Known) -> LaunchSpec:
    names = [s.name for s in site.cluster.servers if s.name in known.servers]
    nodes = tuple(
        Node(server=n, node_rank=i, address="", devices=tuple(range(len(known.servers[n]["ranks"]))))
        for i, n in enumerate(names)
    )
    return LaunchSpec(job=known.job, nodes=nodes, master_addr="", master_port=0, argv=())


def _shares_of(known: Known) -> dict[str, tuple[RankCommand, ...]]:
    return {
        name: tuple(
            RankCommand(rank=r.get("rank"), local_rank=int(r["local_rank"]), argv=(), env={}) for r in standing["ranks"]
        )
        for name, standing in known.servers.items()
    }


def _blank(site: Site, verb: str, started: str, since: float) -> Record:
    return Record(
        verb=verb,
        cluster=site.cluster.name,
        started=started,
        seconds=time.monotonic() - since,
        exit=0,
        simulated=site.cluster.simulated,
        servers=len(site.cluster.servers),
    )


def table(jobs: list[dict[str, Any]], emit: Callable[[str], None]) -> None:
    """Write jobs as lines."""
    emit(f"{'JOB':<26} {'PHASE':<10} {'RANKS':>5}  {'STARTED':<20} SERVERS")
    for job in jobs:
        begun = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(job["started"])) if job["started"] else "-"
        phase = job["phase"]
        if phase == "ended" and (job["cause"] in BY_FAILURE or (job["cause"] == "exit" and job["failed"])):
            phase = "failed"
        elif phase == "ended" and job["cause"] != "exit":
            phase = "stopped"
        emit(f"{job['job']:<26} {phase:<10} {job['ranks']:>5}  {begun:<20} {', '.join(job['servers'])}")
