# ruff: noqa: UP006, UP035, UP045, TC001, TC003  (sent to servers as part of one file, where Python may be 3.7)
"""Guardian and guard: they own a job's processes on one server, so that nothing outlives the job (facts/transport 11).

::

    sshd ─ start ┄ (left) guardian ── guard ── rank (own session) ── …
                          subreaper   subreaper

Each notices the other's death by the end of a pipe, and then kills everything.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import select
import signal
import time
from pathlib import Path
from typing import List, NoReturn, Optional

from rankready.runs.data.kills import Kills
from rankready.runs.data.kin import Fields, Pids, boot_id, end_all, identity, members, read, tags_of, write
from rankready.runs.data.link import Link, link_of, tell_hub
from rankready.runs.data.logout import logout_kills
from rankready.runs.data.rank import become_rank
from rankready.runs.data.reached import Reached

LOOK_S = 0.1
# (age of the job, seconds between two looks for members): what starts a job's daemons does so early
REGISTER_S = ((10.0, 0.5), (60.0, 2.0), (float("inf"), 10.0))
BYE = b"b"
PR_SET_CHILD_SUBREAPER = 36
PUNCH_HOLE, KEEP_SIZE = 2, 1  # of fallocate
BLOCK = 4096


class Keeper:
    """The job as guard or guardian keep it: its state file, its event lines, its ranks' ends."""

    def __init__(self, folder: Path, state: Fields) -> None:
        self.folder = folder
        self.state = state
        self.ranks: List[Fields] = state["ranks"]
        self.spare = {os.getpid()}
        self.root = os.getpid()
        self.kills = Kills()

    def tell(self, event: str, **fields: object) -> None:
        """Append one event line and keep the state file in step."""
        line = json.dumps({"event": event, **fields}) + "\n"
        with (self.folder / "events").open("a") as file:
            file.write(line)
        write(self.folder / "state", self.state)

    def reap(self) -> None:
        """Collect every ended child: as a subreaper, nobody else does."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for rank in self.ranks:
                if rank["pid"] == pid and rank["ended"] is None:
                    self.ended(rank, status)

    def ended(self, rank: Fields, status: int) -> None:
        """Note how a rank ended."""
        rank["ended"] = time.time()
        rank["exit"] = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        rank["signal"] = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        rank["oom"] = self.kills.lately() if status else {}
        shown = {k: rank[k] for k in ("rank", "local_rank", "exit", "signal", "oom")}
        self.tell("exited", at=rank["ended"], **shown)

    def members(self) -> Pids:
        """Find all of the job's processes."""
        registry = {r["pid"]: r["start"] for r in self.ranks}
        registry.update({int(p): s for p, s in self.state.get("registry", {}).items()})
        tags = tags_of("RANKREADY_JOB", self.state["job"], self.folder)
        return members(tags, self.root, registry, self.spare)

    def each_look(self) -> bool:
        """Reap; tell whether a kill was ordered."""
        self.reap()
        return bool(read(self.folder / "order").get("kill"))

    def finish(self, cause: str, grace_s: float) -> None:
        """End all of the job and write down how it went."""
        if cause != "exit":
            self.tell("stopping", cause=cause, at=time.time())
        left = end_all(self.members, grace_s, self.each_look)
        self.reap()
        self.state.update(cause=cause, left=left, at=time.time())
        write(self.folder / "exit", self.state)
        self.tell("left", left=left)
        self.tell("ended", cause=cause, at=self.state["at"], ranks=self.ranks)


# ── guardian and guard ──────────────────────────────────────────────────────────────────────────────────────────────


def start(folder: Path, guard_sha: str, spec_sha: str) -> Fields:
    """Check the files, refuse a second start, leave guardian and guard behind; return what they said."""
    for name, wanted in (("guard.py", guard_sha), ("spec.json", spec_sha)):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != wanted:
            return {"event": "refused", "reason": f"{name} did not arrive whole"}
    try:
        os.close(os.open(str(folder / "started"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return {"event": "refused", "reason": "this job was started before"}
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        os.setsid()
        if os.fork() == 0:
            become_guardian(folder, tell)
        os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    said = b""
    while True:
        part = os.read(told, 65536)
        if not part:
            break
        said += part
    found: Fields = json.loads(said or b"{}")
    return found or {"event": "refused", "reason": "the guard ended before it was ready"}


def become_guardian(folder: Path, tell: int) -> NoReturn:
    """Be the guard's parent: do nothing but notice its death, and then kill everything."""
    leave_terminal(keep=tell)
    reaper = subreaper()
    for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(ignored, signal.SIG_IGN)
    guard_lives, guard_end = os.pipe()
    guardian_lives, guardian_end = os.pipe()
    me = os.getpid()
    guard = os.fork()
    if guard == 0:
        os.close(guard_lives)
        os.close(guardian_end)
        be_guard(folder, me, (guard_end, guardian_lives, tell), reaper=reaper)
    for number in (guard_end, guardian_lives, tell):
        os.close(number)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(guard, signal.SIGTERM))
    if os.read(guard_lives, 1) != BYE:
        peers = read(folder / "spec.json").get("peers")
        if peers and peers["hub"]:
            tell_hub(peers, "failed")
        keeper = Keeper(folder, read(folder / "state") or {"job": folder.name, "ranks": []})
        keeper.finish("guard_died", 0.0)
    os._exit(0)


def leave_terminal(keep: int) -> None:
    """Hold nothing of the caller's: the ssh command returns only when its descriptors are closed."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  (one system call, no objects)
        if int(name) > 2 and int(name) != keep:  # noqa: PLR2004  (the three standard streams)
            with contextlib.suppress(OSError):
                os.close(int(name))
    os.chdir("/")


def subreaper() -> bool:
    """Ask the kernel to give us our descendants' orphans; False where it can't be asked."""
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def be_guard(folder: Path, guardian: int, pipes: tuple[int, int, int], *, reaper: bool) -> NoReturn:
    """Start the ranks and watch over them to the end."""
    goodbye, guardian_lives, tell = pipes
    reaper = subreaper() and reaper
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    spec = read(folder / "spec.json")
    state: Fields = {"job": spec["job"], "guard": identity(os.getpid()), "guardian": identity(guardian)}
    state.update(boot_id=boot_id(), started=time.time(), reaper=reaper, lease_s=spec["lease_s"], ranks=[], registry={})
    state["detached"] = bool(spec["start_s"])
    state["logout_kills"] = state["detached"] and logout_kills()
    guard = Guard(folder, state, spec, guardian)
    guard.spawn_all()
    guard.join_others()  # a thread: only once every rank was forked
    os.write(tell, json.dumps(ready(state)).encode())
    os.close(tell)
    ending = guard.watch_over((wake_read, guardian_lives))
    guard.part_from_others(ending[0])
    guard.finish(*ending)
    os.write(goodbye, BYE)
    os._exit(0)


def ready(state: Fields) -> Fields:
    """Say who guards."""
    return {
        "event": "ready",
        "pid": state["guard"][0],
        "starttime": state["guard"][1],
        "boot_id": state["boot_id"],
        "reaper": state["reaper"],
        "logout_kills": state.get("logout_kills", False),
        "clock": time.time(),
    }


class Guard(Keeper):
    """The ranks' parent."""

    def __init__(self, folder: Path, state: Fields, spec: Fields, guardian: int) -> None:
        super().__init__(folder, state)
        self.spec = spec
        self.root = guardian
        self.spare = {os.getpid(), guardian}
        self.terminated = False
        self.failed_at = 0.0
        (folder / "lease").write_text("")
        self.born = self.registered_at = time.monotonic()
        self.lease_seen = (self.lease_mark(), self.born)
        self.begun = False
        self.link: Optional[Link] = None
        self.reached = Reached(int(spec.get("master_port", 0)), int(spec.get("nproc", 0)))
        signal.signal(signal.SIGTERM, self.on_term)

    def on_term(self, *_: object) -> None:
        """A server that shuts down sends this: end in order."""
        self.terminated = True

    def spawn_all(self) -> None:
        """Start every rank."""
        for name in self.spec["folders"]:
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for item in self.spec["ranks"]:
            pid = os.fork()
            if pid == 0:
                become_rank(self.folder, self.spec, item)
            rank = {"rank": item["rank"], "local_rank": item["local_rank"], "log": item["log"], "pid": pid}
            rank.update(start=identity(pid)[1], started=time.time(), exit=None, signal=None, ended=None)
            self.ranks.append(rank)
            shown = {k: rank[k] for k in ("rank", "local_rank", "pid")}
            self.tell("started", at=rank["started"], **shown)

    def join_others(self) -> None:
        """Listen for failures elsewhere, where the job is to stay alone."""
        if self.spec.get("peers"):
            self.link = link_of(self.spec["peers"])
            self.link.start()

    def part_from_others(self, cause: str) -> None:
        """Let the others know how it ended here; what was ordered is ordered everywhere, each with its own grace."""
        if self.link is not None:
            bad = cause not in ("exit", "stop", "kill") or any(r["exit"] or r["signal"] for r in self.ranks)
            self.link.close("failed" if bad and cause not in ("stop", "kill") else "done")

    def take_note(self) -> None:
        """Write down what the link learnt, and which ranks came to their meeting."""
        self.kills.look()
        while self.link is not None and self.link.news:
            self.tell(at=time.time(), **self.link.news.popleft())
        for event in self.reached.look(self.members):
            self.tell(at=time.time(), **event)

    def watch_over(self, lives: tuple[int, int]) -> tuple[str, float]:
        """Wait until something ends the job; return the cause and the grace."""
        while True:
            readable = select.select(lives, [], [], LOOK_S)[0]
            if lives[1] in readable:
                self.root = os.getpid()
                return "guardian_died", 0.0
            if lives[0] in readable:
                os.read(lives[0], 4096)
            self.reap()
            self.take_note()
            ending = self.ending()
            if ending is not None:
                return ending
            self.upkeep()

    def ending(self) -> Optional[tuple[str, float]]:
        """Tell why the job should end now, if it should."""
        order = read(self.folder / "order")
        if order:
            return str(order["why"]), float(order["grace_s"])
        if all(r["ended"] is not None for r in self.ranks):
            return "exit", 1.0
        if self.terminated:
            return "term", float(self.spec["grace_s"])
        if self.lease_ran_out():
            return "lease" if self.begun or not self.spec["start_s"] else "not_begun", 1.0
        return self.failure()

    def failure(self) -> Optional[tuple[str, float]]:
        """Tell whether the job failed, elsewhere or here; what failed here waits for a controller's word first."""
        if self.link is not None and self.link.verdict is not None:
            return self.link.verdict[0], 1.0
        if not any(r["exit"] or r["signal"] for r in self.ranks):
            return None
        if self.link is not None:
            self.link.say("failed")
        self.failed_at = self.failed_at or time.monotonic()
        held = time.monotonic() - self.failed_at > self.spec["fail_hold_s"]
        return ("rank_failed", 1.0) if held else None

    def lease_mark(self) -> int:
        """Return the lease file's mtime; 0 for a link or a file of somebody else's."""
        try:
            seen = os.lstat(str(self.folder / "lease"))
        except OSError:
            return 0
        return seen.st_mtime_ns if seen.st_uid == os.geteuid() and seen.st_mode & 0o170000 == 0o100000 else 0  # noqa: PLR2004  (S_IFMT, S_IFREG)

    def lease_ran_out(self) -> bool:
        """Compare our own clock with itself only: a date that somebody sets kills nothing."""
        now = time.monotonic()
        mark = self.lease_mark()
        if mark not in (0, self.lease_seen[0]):
            self.lease_seen = (mark, now)
        limit = self.lease_limit(now)
        return bool(limit) and now - self.lease_seen[1] > limit

    def lease_limit(self, now: float) -> float:
        """Return how long nobody may beat: a job that is to stay alone first has a lease until all servers run it."""
        if not self.begun and (self.folder / "begun").exists():
            self.begun = True
            self.lease_seen = (self.lease_seen[0], now)
        start_s = float(self.spec["start_s"])
        return start_s if start_s and not self.begun else float(self.spec["lease_s"])

    def upkeep(self) -> None:
        """Register members that a later sweep could not find otherwise; keep logs within their limit."""
        now = time.monotonic()
        if now - self.registered_at < next(every for age, every in REGISTER_S if now - self.born < age):
            return
        self.registered_at = now
        seen = {str(p): s for p, s in self.members().items()}
        if seen != self.state["registry"]:
            self.state["registry"] = seen
            write(self.folder / "state", self.state)
        for rank in self.ranks:
            trim(self.folder / rank["log"], int(self.spec["log_limit"]))


def trim(log: Path, limit: int) -> None:
    """Give back the oldest part of a log that takes more than its limit of disk.

    A hole leaves every later byte at its offset, so nobody who writes or reads loses a line. Where the file system
    makes no holes (NFS) the log grows on.
    """
    with contextlib.suppress(OSError, AttributeError):
        seen = log.stat()
        if seen.st_blocks * 512 <= limit:
            return
        until = (seen.st_size - limit // 2) // BLOCK * BLOCK
        handle = os.open(str(log), os.O_RDWR)
        try:
            off_t = ctypes.c_longlong
            ctypes.CDLL(None).fallocate(handle, PUNCH_HOLE | KEEP_SIZE, off_t(0), off_t(until))
        finally:
            os.close(handle)
