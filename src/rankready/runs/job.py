"""`run`: start a job on all servers, watch over it, end it everywhere when it fails anywhere (facts/launch 5.5)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankready.model.errors import Unreachable, Unreadable
from rankready.model.job import (
    Exited,
    Finish,
    Interrupt,
    Kill,
    Phase,
    Ready,
    Say,
    StartFailed,
    Stop,
    Tick,
)
from rankready.model.plain import plain
from rankready.model.record import Record
from rankready.model.text import Text
from rankready.runs.guard_file import GuardTimes, folder_of, read_answer
from rankready.runs.guard_link import Ears, GuardLink, clock
from rankready.runs.job_folder import JobFolder, job_json
from rankready.runs.job_output import Lines, harmless
from rankready.runs.site import now_utc
from rankready.supervise.first import first_of, only_waited
from rankready.supervise.job import accounts, begin, exit_code, step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankready.kind.launcher import Launcher
    from rankready.model.job import Action, Event, JobState, RankEnd
    from rankready.model.ranks import LaunchSpec, Node, RankCommand
    from rankready.runs.site import Site

MASTER_S = 3.0  # how long the others wait for rank 0 to listen; a slow import must not cost more
TICK_S = 0.5
END_S = 2.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run: the guard's limits, whether to stay, and where ranks' lines go."""

    emit: Callable[[str], None]
    times: GuardTimes = field(default_factory=GuardTimes)
    detach: bool = False


def new_job_id() -> str:
    """Return a job's name: when it was made, and four random bytes that make it one of its kind."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


async def run(site: Site, spec: LaunchSpec, launcher: Launcher, options: RunOptions) -> Record:
    """Start the job everywhere, and unless ``detach`` stay until it is over.

    ``extra``: job, cause, ranks (rank, server, local_rank, exit, signal, started, ended), first_failure (the same,
    with its log's last lines, and whether they only speak of a rank that it waited for) or null, left (server →
    processes that would not end), lost (servers whose connection did not come back). Exit 0 done, 1 failed, 3 not
    known (a server was lost), 130 interrupted.
    """
    started, since = now_utc(), time.monotonic()
    shares = {n.server: launcher.commands(spec, n) for n in spec.nodes}
    controller = Controller(site, spec, shares, options)
    controller.folder.write("spec.json", {"launcher": launcher.name, "spec": spec, "detached": options.detach})
    state = await controller.run()
    known = {link.name: (link.clock_offset_s, link.pids) for link in controller.links.values()}
    told = {"job": spec.job, "launcher": launcher.name, "started": started}
    controller.folder.write("job.json", {**told, **job_json(site.cluster, spec, known)})
    extra = controller.result(state)
    controller.folder.write("result.json", extra)
    controller.folder.write("collect.json", {n.server: {"reachable": True, "gaps": []} for n in spec.nodes})
    return Record(
        verb="run",
        cluster=site.cluster.name,
        started=started,
        seconds=time.monotonic() - since,
        exit=controller.exit(state),
        simulated=site.cluster.simulated,
        servers=len(spec.nodes),
        devices=spec.world_size,
        extra=extra,
    )


def guard_spec(spec: LaunchSpec, commands: tuple[RankCommand, ...], times: GuardTimes) -> dict[str, Any]:
    """Return what a server's guard is told."""
    return {
        "job": spec.job,
        "workdir": spec.workdir,
        "setup": spec.setup,
        "folders": ["train", "ascend/log"],
        "lease_s": times.lease_s,
        "grace_s": times.grace_s,
        "fail_hold_s": times.fail_hold_s,
        "log_limit": times.log_limit,
        "ranks": [
            {
                "rank": c.rank,
                "local_rank": c.local_rank,
                "argv": list(c.argv),
                "env": dict(c.env),
                "defaults": dict(c.defaults),
                "unset": list(c.unset),
                "log": c.log,
            }
            for c in commands
        ],
    }


class Controller:
    """Carries out what the state machine decides, and tells it what happens."""

    def __init__(
        self, site: Site, spec: LaunchSpec, shares: Mapping[str, tuple[RankCommand, ...]], options: RunOptions
    ) -> None:
        """Connect to nobody yet."""
        self.site, self.spec, self.shares, self.options = site, spec, shares, options
        self.folder = JobFolder(site.home, spec.job)
        self.lines = Lines(options.emit)
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        ears = Ears(tell=self.events.put_nowait, output=self._output)
        self.links = {
            n.server: GuardLink(site.fleet, site.cluster.server(n.server), spec.job, ears) for n in spec.nodes
        }
        self.state = begin(
            {s: len(c) for s, c in shares.items()}, lease_s=options.times.lease_s, grace_s=options.times.grace_s
        )
        self.reasons: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> JobState:
        """Start and supervise; returns when all is over, or when all has started and nobody should stay."""
        self._spawn(self._start_all())
        try:
            with _signals({**dict.fromkeys(SIGNALS, self._interrupted), signal.SIGTSTP: self._suspended}):
                while self.state.phase is not Phase.ENDED and not self._may_leave():
                    self._take(await self._next())
        finally:
            await self._end_tasks()
            self.lines.flush()
        return self.state

    async def _end_tasks(self) -> None:
        """Let watches of servers that are over end by themselves; cancel all others."""
        if self._tasks and self.state.phase is Phase.ENDED and not self.state.gone:
            await asyncio.wait(self._tasks, timeout=END_S)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _may_leave(self) -> bool:
        return self.options.detach and self.state.phase is Phase.RUNNING

    def _spawn(self, work: Any) -> None:  # noqa: ANN401  (a coroutine; its own type says no more)
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _next(self) -> Event:
        try:
            return await asyncio.wait_for(self.events.get(), TICK_S)
        except TimeoutError:
            return Tick()

    def _interrupted(self) -> None:
        self.events.put_nowait(Interrupt())

    def _suspended(self) -> None:
        """Say what a stopped program means for its job, then stop as Ctrl-Z asks."""
        if lease_s := self.options.times.lease_s:
            self.site.say(
                Text(
                    en=f"suspended: without beats from here the job ends in {lease_s:g} s",
                    zh=f"已挂起：{lease_s:g} 秒内收不到心跳，作业将结束",
                )
            )
        os.kill(os.getpid(), signal.SIGSTOP)

    def _take(self, event: Event) -> None:
        before = self.state
        self.state, actions = step(self.state, event, clock())
        self._comment(before, event)
        for action in actions:
            self._do(action)

    def _do(self, action: Action) -> None:
        match action:
            case Stop():
                self._spawn(self.links[action.server].order(f"stop {action.grace_s:g}"))
            case Kill():
                self._spawn(self.links[action.server].order("kill"))
            case Say():
                self.site.say(action.text)
            case Finish():
                pass  # the loop sees it

    def _comment(self, before: JobState, event: Event) -> None:
        """Say what a person waits for: all started, who failed first, what an interrupt does."""
        match event:
            case StartFailed():
                self.reasons[event.server] = event.reason
                text = Text(
                    en=f"{event.server}: not started: {event.reason}", zh=f"{event.server}：未能启动：{event.reason}"
                )
                self.site.say(text)
            case Ready() if self.state.phase is Phase.RUNNING:
                world, nodes = self.spec.world_size, len(self.spec.nodes)
                self.site.say(
                    Text(
                        en=f"job {self.spec.job}: {world} ranks started on {nodes} servers",
                        zh=f"作业 {self.spec.job}：{nodes} 台服务器上已启动 {world} 个 rank",
                    )
                )
            case Exited() if before.phase is not Phase.STOPPING and self.state.phase is Phase.STOPPING:
                self.site.say(_failed(event.end))
            case Interrupt():
                self.site.say(_interrupted(before))

    def _output(self, server: str, log: str, rank: int | None, data: bytes) -> None:
        self.folder.append(server, log, data)
        self.lines.take(server, log, rank, data)

    async def _start_all(self) -> None:
        """Node 0 first, until its master port listens; then the others at once (facts/launch 5.5)."""
        first, *others = self.spec.nodes
        await self._start(first)
        if others and self.state.phase is Phase.STARTING:
            await self._wait_for_master(first)
        await asyncio.gather(*(self._start(node) for node in others))

    async def _start(self, node: Node) -> None:
        link = self.links[node.server]
        if self.state.phase is not Phase.STARTING:
            self.events.put_nowait(StartFailed(server=node.server, reason="the job was given up before"))
            return
        ready = await link.start(guard_spec(self.spec, self.shares[node.server], self.options.times))
        if ready:
            self._spawn(link.follow(self.options.times))

    async def _wait_for_master(self, node: Node) -> None:
        nonce = f"rr{secrets.token_hex(8)}"
        script = (
            f"exec python3 -I -S {folder_of(self.spec.job)}/guard.py port {nonce} {self.spec.master_port} {MASTER_S}\n"
        )
        with contextlib.suppress(Unreachable, Unreadable):
            session = await self.site.fleet.session(self.site.cluster.server(node.server))
            read_answer((await session.run(script.encode(), timeout_s=MASTER_S + 15)).stdout, nonce)

    def exit(self, state: JobState) -> int:
        """Return the exit code; a detached job that runs is as planned."""
        return 0 if self._may_leave() else exit_code(state)

    def result(self, state: JobState) -> dict[str, Any]:
        """Return the job's own parts of the record."""
        first = first_of(state.failures, self._tails(state)) or state.first_failure
        return {
            "job": self.spec.job,
            "phase": state.phase.value,
            "cause": state.cause.value if state.cause else None,
            "ranks": [_shown(self._named(end)) for end in accounts(state)],
            "first_failure": None if first is None else self._first(first),
            "left": {s: n for s, n in state.left.items() if n},
            "lost": [s for s in state.expected if s in state.lost or (s in state.gone and s not in self.reasons)],
            "not_started": self.reasons,
            "folder": str(self.folder.path),
        }

    def _first(self, end: RankEnd) -> dict[str, Any]:
        tail = self._tail(end)
        return {**_shown(self._named(end)), "tail": tail, "only_waited": end.signal is None and only_waited(tail)}

    def _named(self, end: RankEnd) -> RankEnd:
        commands = {c.local_rank: c for c in self.shares[end.server]}
        return replace(end, rank=commands[end.local_rank].rank) if end.local_rank in commands else end

    def _tails(self, state: JobState) -> dict[tuple[str, int], list[str]]:
        return {(end.server, end.local_rank): self._tail(end) for end in state.failures}

    def _tail(self, end: RankEnd) -> list[str]:
        log = next((c.log for c in self.shares[end.server] if c.local_rank == end.local_rank), "")
        return [harmless(line) for line in self.folder.tail(end.server, log)]


def _shown(end: RankEnd) -> dict[str, Any]:
    found = plain(end)
    return dict(found) if isinstance(found, dict) else {}


def _failed(end: RankEnd) -> Text:
    who = end.server if end.rank is None else f"rank {end.rank} ({end.server}, local rank {end.local_rank})"
    how = f"signal {end.signal}" if end.signal else f"exit {end.exit}"
    return Text(en=f"{who} ended with {how}; stopping all others", zh=f"{who} 异常结束（{how}）；正在停止其余 rank")


def _interrupted(before: JobState) -> Text:
    if before.phase is Phase.STOPPING:
        return Text(en="killing all ranks", zh="正在强制结束所有 rank")
    return Text(
        en=f"stopping all ranks, {before.grace_s:g} s to save their state; once more kills them",
        zh=f"正在停止所有 rank，留 {before.grace_s:g} 秒保存状态；再按一次立即强制结束",
    )


@contextlib.contextmanager
def _signals(acts: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[None]:
    """Take Ctrl-C and its like as events for as long as a job runs."""
    loop = asyncio.get_running_loop()
    taken = []
    for number, act in acts.items():
        with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread: somebody else's signals
            loop.add_signal_handler(number, act)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
