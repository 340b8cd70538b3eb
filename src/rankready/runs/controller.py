"""The controller of one job: carries out what the state machine decides, and tells it what happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankready.model.errors import Unreachable, Unreadable
from rankready.model.job import (
    Begin,
    Exited,
    Finish,
    Interrupt,
    Kill,
    Phase,
    Reached,
    Say,
    Started,
    StartFailed,
    Stop,
    Tick,
)
from rankready.model.text import Text
from rankready.runs.guard_file import GuardTimes, folder_of, read_answer
from rankready.runs.guard_link import Ears, GuardLink, clock
from rankready.runs.job_folder import JobFolder
from rankready.runs.job_output import Lines, Tails, harmless
from rankready.runs.job_spec import guard_spec, link_port, peers_spec
from rankready.runs.meeting import Meeting
from rankready.supervise.first import start_skew
from rankready.supervise.job import begin, exit_code, step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rankready.model.job import Action, Event, JobState, RankEnd
    from rankready.model.ranks import LaunchSpec, Node, RankCommand
    from rankready.runs.guard_link import Piece
    from rankready.runs.site import Site

TICK_S = 0.5
END_S = 2.0
LINK_S = 10.0
PROGRESS_S = 1.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How to run: the guard's limits, whether to stay, where ranks' lines go, and how often to try again.

    ``force``: start on devices that another job holds. ``free_s``: how long devices may take to get free afterwards.
    ``ranks``: whose lines are emitted (all, when empty). ``master_s``: how long the others wait for rank 0 to listen; a
    slow import must not cost more.
    """

    emit: Callable[[str], None]
    times: GuardTimes = field(default_factory=GuardTimes)
    detach: bool = False
    force: bool = False
    max_restarts: int = 0
    free_s: float = 30.0
    ranks: frozenset[int] = frozenset()
    master_s: float = 3.0


class Controller:
    """Carries out what the state machine decides, and tells it what happens."""

    def __init__(
        self, site: Site, spec: LaunchSpec, shares: Mapping[str, tuple[RankCommand, ...]], options: RunOptions
    ) -> None:
        """Connect to nobody yet."""
        self.site, self.spec, self.shares, self.options = site, spec, shares, options
        self.folder = JobFolder(site.home, spec.job)
        self.lines, self.tails = Lines(options.emit, options.ranks), Tails()
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        ears = Ears(tell=self.events.put_nowait, output=self._output)
        self.links = {
            n.server: GuardLink(site.fleet, site.cluster.server(n.server), spec.job, ears) for n in spec.nodes
        }
        times = options.times
        self.state = begin(
            {s: len(c) for s, c in shares.items()}, lease_s=max(times.lease_s, times.start_s), grace_s=times.grace_s
        )
        self.reasons: dict[str, str] = {}
        self._key = secrets.token_hex(16)
        self._running_since: float | None = None
        self._meeting = Meeting(spec)
        self._all_started: float | None = None
        self._told_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> JobState:
        """Start and supervise; returns when all is over, or when all has started and nobody should stay."""
        self._spawn(self._start_all())
        try:
            with _signals({**dict.fromkeys(SIGNALS, self._interrupted), signal.SIGTSTP: self._suspended}):
                while self.state.phase is not Phase.ENDED and not self.leaves():
                    self._take(await self._next())
        finally:
            await self._end_tasks()
            self.lines.flush()
        if self.state.phase is not Phase.ENDED and self.options.detach:
            self._tell_alone()
        return self.state

    def leaves(self) -> bool:
        """Tell whether the job may stay alone: all run, every guard knows it, and whether they reach each other."""
        state = self.state
        running = state.phase is Phase.RUNNING and set(state.expected) <= state.begun
        if not (self.options.detach and running and len(state.started) == sum(state.expected.values())):
            return False
        self._running_since = self._running_since or time.monotonic()
        settled = all(self.links[n.server].linked is not None for n in self.spec.nodes[1:])
        return settled or time.monotonic() - self._running_since > LINK_S

    def unlinked(self) -> dict[str, str]:
        """Return server → why its guard could not reach node 0's: a failure there is then not told to the others."""
        far = (self.links[n.server] for n in self.spec.nodes[1:])
        return {link.name: link.trouble or "no answer yet" for link in far if not link.linked}

    def exit(self) -> int:
        """Return the exit code; a detached job that runs is as planned."""
        return 0 if self.leaves() else exit_code(self.state)

    def skew(self) -> tuple[float, dict[str, float]] | None:
        """Return how far apart the servers' ranks started, in seconds; None before all have."""
        if len(self.state.started) < sum(self.state.expected.values()):
            return None
        return start_skew({name: tuple(link.starts.values()) for name, link in self.links.items()})

    def tail(self, end: RankEnd) -> list[str]:
        """Return the last lines of a rank, harmless."""
        log = next((c.log for c in self.shares[end.server] if c.local_rank == end.local_rank), "")
        lines = self.tails.last(end.server, log) or self.folder.tail(end.server, log)
        return [harmless(line) for line in lines]

    async def _end_tasks(self) -> None:
        """Let watches of servers that are over end by themselves; cancel all others."""
        if self._tasks and self.state.phase is Phase.ENDED and not self.state.gone:
            await asyncio.wait(self._tasks, timeout=END_S)
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

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
        if lease_s := self.options.times.start_s or self.options.times.lease_s:
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
            case Begin():
                self._spawn(self.links[action.server].order("begin"))
            case Stop():
                self._spawn(self.links[action.server].order(f"stop {action.grace_s:g}"))
            case Kill():
                self._spawn(self.links[action.server].order("kill"))
            case Say():
                self.site.say(action.text)
            case Finish():
                pass  # the loop sees it

    def _comment(self, before: JobState, event: Event) -> None:
        """Say what a person waits for: how many started, who failed first, what an interrupt does."""
        match event:
            case StartFailed():
                self.reasons[event.server] = event.reason
                self.site.say(
                    Text(
                        en=f"{event.server}: not started: {event.reason}",
                        zh=f"{event.server}：未能启动：{event.reason}",
                    )
                )
            case Started():
                self._progress()
            case Exited() if before.phase is not Phase.STOPPING and self.state.phase is Phase.STOPPING:
                self.site.say(_failed(event.end))
            case Interrupt():
                self.site.say(_interrupted(before))
            case Reached() | Tick():
                self._meet()

    def _meet(self) -> None:
        """Say how many ranks came to their meeting, as long as the job runs and some wait there."""
        if self.state.phase is not Phase.RUNNING or self.skew() is None:
            return
        self._all_started = self._all_started or time.monotonic()
        held = {name: link.held for name, link in self.links.items()}
        if (text := self._meeting.words(self._reached(), held, time.monotonic() - self._all_started)) is not None:
            self.site.say(text)

    def _reached(self) -> dict[str, dict[int, float]]:
        return {name: link.reached for name, link in self.links.items()}

    def met(self) -> dict[str, Any]:
        """Return how many ranks reached init, for the record."""
        return self._meeting.told(self._reached())

    def _tell_alone(self) -> None:
        """Say who watches over a job that nobody is attached to, and what would end it with our login."""
        if killing := ", ".join(link.name for link in self.links.values() if link.logout_kills):
            self.site.say(
                Text(
                    en=f"{killing}: the server ends a user's processes at logout (KillUserProcesses of logind): "
                    "the job ends once no login of this user is left",
                    zh=f"{killing}：服务器会在用户注销时结束其进程（logind 的 KillUserProcesses）："
                    "该用户没有任何登录时作业即结束",
                )
            )
        apart, at = self.unlinked(), f"{self.spec.master_addr}:{link_port(self.spec)}"
        for name, reason in apart.items():
            self.site.say(
                Text(
                    en=f"{name}: its guard does not reach that of node 0 at {at}: {harmless(reason)}; a failure of one "
                    "of the two servers ends the other's ranks only while somebody is attached",
                    zh=f"{name}：其 guard 无法连接节点 0 的 guard（{at}）：{harmless(reason)}；"
                    "两者之一失败时，只有在有人 attach 期间才会结束另一台服务器上的 rank",
                )
            )
        if len(self.spec.nodes) > 1 and not apart:
            lost_s = self.options.times.silence_s
            self.site.say(
                Text(
                    en="left; the guards watch over each other: a failure on one server ends all, a server that is "
                    f"silent for {lost_s:g} s counts as failed",
                    zh=f"已离开；各 guard 互相监护：任一服务器失败即结束全部，{lost_s:g} 秒无响应的服务器视为失败",
                )
            )

    def _progress(self) -> None:
        """Say how many ranks run; at most once a second, and when all do."""
        world, count = self.spec.world_size, self._count()
        if (skew := self.skew()) is not None:
            nodes = len(self.spec.nodes)
            self.site.say(
                Text(
                    en=f"job {self.spec.job}: {world} ranks started on {nodes} servers, {skew[0]:.1f} s apart",
                    zh=f"作业 {self.spec.job}：{nodes} 台服务器上已启动 {world} 个 rank，相差 {skew[0]:.1f} 秒",
                )
            )
        elif time.monotonic() - self._told_at > PROGRESS_S:
            self._told_at = time.monotonic()
            self.site.say(Text(en=f"{count} of {world} ranks started", zh=f"已启动 {count}/{world} 个 rank"))

    def _count(self) -> int:
        """Count ranks that run; an agent stands for all of its node's."""
        sizes = {n.server: n.nproc_per_node for n in self.spec.nodes}
        agents = {s for s, commands in self.shares.items() if commands and commands[0].rank is None}
        return sum(sizes[server] if server in agents else 1 for server, _ in self.state.started)

    def _output(self, piece: Piece) -> None:
        self.folder.put(piece.server, piece.log, piece.at, piece.data)
        self.tails.take(piece.server, piece.log, piece.data)
        self.lines.take(piece)

    async def _start_all(self) -> None:
        """Node 0 first, until its master port listens; then the others at once (facts/launch 5.5)."""
        first, *others = self.spec.nodes
        await self._start(first)
        if others and self.options.master_s and self.state.phase is Phase.STARTING:
            await self._wait_for_master(first)
        await asyncio.gather(*(self._start(node) for node in others))

    async def _start(self, node: Node) -> None:
        link = self.links[node.server]
        if self.state.phase is not Phase.STARTING:
            self.events.put_nowait(StartFailed(server=node.server, reason="the job was given up before"))
            return
        told = guard_spec(self.spec, node, self.shares[node.server], self.options.times)
        peers = peers_spec(self.spec, node, self.options.times, self._key)
        ready = await link.start({**told, "peers": peers})
        if ready:
            self._spawn(link.follow(self.options.times))

    async def _wait_for_master(self, node: Node) -> None:
        nonce, limit_s = f"rr{secrets.token_hex(8)}", self.options.master_s
        words = f"port {nonce} {self.spec.master_port} {limit_s:g}"
        script = f"exec python3 -I -S {folder_of(self.spec.job)}/guard.py {words}\n"
        with contextlib.suppress(Unreachable, Unreadable):
            session = await self.site.fleet.session(self.site.cluster.server(node.server))
            read_answer((await session.run(script.encode(), timeout_s=limit_s + 15)).stdout, nonce)


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
        if number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
            continue  # nohup keeps its meaning
        with contextlib.suppress(RuntimeError, ValueError):  # not in the main thread: somebody else's signals
            loop.add_signal_handler(number, act)
            taken.append(number)
    try:
        yield
    finally:
        for number in taken:
            loop.remove_signal_handler(number)
