"""What is left of a job after each hard end, at each moment of its life: ends by left-overs, on a lab with a real sshd.

Run: ``python bench/kill.py [repeats] [words of ends or moments ...]``. The job is two servers' worth of processes that
ignore signals, leave their session, become daemons, wipe their environment. Counted from outside of the lab's
namespaces: by command line and by tag, guards included. Needs root (it reads other namespaces' processes).
"""

from __future__ import annotations

import json
import os
import pty
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rankready.lab import sweep
from rankready.lab.engine import Lab, up
from rankready.lab.parts import missing
from rankready.lab.spec import Door, LabSpec, Ssh
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STUBBORN = Path(__file__).parents[1] / "tests" / "support" / "stubborn_job.py"
LEASE_S, GRACE_S, STOPPING_GRACE_S = 5, 1, 5
LIMIT_S = LEASE_S + STOPPING_GRACE_S + 25
EACH = 21  # processes of one rank of the stubborn job
SERVERS = ("server1", "server2")
VICTIM = "server2"
AT_ONCE = 4
STARTING = threading.Lock()  # two starts at a time would test their connections over the same ports
MOMENTS = ("before", "init", "training", "stopping")


class Run:
    """One job on the lab, and what of it still lives."""

    def __init__(self, lab: Lab, *, detached: bool, terminal: bool, grace_s: float) -> None:
        self.lab, self.detached, self.number = lab, detached, str(10**9 + secrets.randbelow(10**9))
        words = [
            "run",
            "--force",
            "--nproc-per-node",
            "1",
            "--lease",
            str(LEASE_S),
            "--grace",
            str(grace_s),
        ]
        words += ["--detach"] if detached else []
        words += ["--yes", "--python", sys.executable, str(STUBBORN), f"/tmp/kill-{self.number}"]  # noqa: S108  (the lab's own /tmp)
        self.said = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the run)
        self.master, ends = -1, [subprocess.DEVNULL, subprocess.DEVNULL, self.said.fileno()]
        if terminal:
            self.master, slave = pty.openpty()
            ends = [slave] * 3
        self.client = subprocess.Popen(
            self.program(*words), stdin=ends[0], stdout=ends[1], stderr=ends[2], start_new_session=True,
            preexec_fn=_take_terminal if terminal else None,  # noqa: PLW1509  (one system call)
        )  # fmt: skip
        if terminal:
            os.close(ends[0])
        self.job = ""

    def program(self, *words: str) -> list[str]:
        """Make a call of ours on this lab."""
        return [sys.executable, "-m", "rankready", "-f", str(self.lab.directory / "cluster.yaml"), *words]

    def began(self) -> bool:
        """Tell whether a first process of the job is there."""
        return bool(self.left())

    def stands(self) -> bool:
        """Tell whether every process of the job is there."""
        return len(self.left()) >= 2 * EACH + 4

    def left(self) -> list[int]:
        """Return all of the job's processes that live, guards included; the job's name is read off its ranks."""
        own = (os.getpid(), self.client.pid)
        marks = [self.number.encode()]
        if self.job:
            marks += [f"RANKREADY_JOB={self.job}\0".encode(), f"RANKREADY_GUARD={self.job}\0".encode()]
        found = [p for p in _pids() if p not in own and _carries(p, marks)]
        if not self.job and (name := next(filter(None, map(_job_of, found)), "")):
            self.job = name
            return self.left()
        return found

    def guards(self, server: str) -> dict[str, int]:
        """A server's guard and guardian, as this machine numbers them: the guardian is the parent."""
        mark = f"RANKREADY_GUARD={self.job}\0".encode()
        both = [p for p in self.left() if mark in _read(p, "environ") and b"/guard.py\0start" in _read(p, "cmdline")]
        inside = [p for p in both if _uts(p) == server]
        guard = next(p for p in inside if _parent(p) in inside)
        return {"guard": guard, "guardian": _parent(guard)}

    def first_server(self) -> str:
        """The victim where it takes part already, else node 0."""
        seen = {_uts(p) for p in self.left()}
        return VICTIM if VICTIM in seen else SERVERS[0]

    def ps(self) -> str:
        """What `ps` says of the job, from another terminal."""
        done = subprocess.run(self.program("ps", "--json"), capture_output=True, text=True, check=False)
        with suppress(ValueError):
            jobs = json.loads(done.stdout)["jobs"]
            return next((str(j["phase"]) for j in jobs if j["job"] == self.job), "-")
        return "?"

    def stop(self) -> None:
        """End the job from another terminal."""
        if self.job:
            subprocess.run(self.program("stop", "--yes", "--grace", "0", self.job), capture_output=True, check=False)

    def last_words(self) -> str:
        """What the client said last."""
        self.said.seek(0)
        return " | ".join(self.said.read().decode(errors="replace").splitlines()[-4:])[-300:]

    def over(self) -> None:
        """Leave nothing behind, whatever was found."""
        self.client.kill()
        self.client.wait()
        if self.master >= 0:
            with suppress(OSError):
                os.close(self.master)
        if self.left():
            self.stop()


def _take_terminal() -> None:
    import fcntl  # noqa: PLC0415  (in the child alone)
    import termios  # noqa: PLC0415  (the same)

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  (one system call, no objects)


def _lab_pids(lab: Lab) -> list[int]:
    """This lab's own: others on the machine have servers of the same names."""
    return sorted(p.pid for p in sweep.below(lab.inventory.process.pid))


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def _job_of(pid: int) -> str:
    items = _read(pid, "environ").split(b"\0")
    return next((i[14:].decode() for i in items if i.startswith(b"RANKREADY_JOB=")), "")


def _carries(pid: int, marks: Iterable[bytes]) -> bool:
    words = _read(pid, "cmdline")
    held = words + _read(pid, "environ")
    state = _read(pid, "stat").rpartition(b")")[2].split()[:1]
    # clients of this bench, the lab's own ssh sessions among them, name the number without being of the job
    client = b"rankready\0-f\0" in words or b"bench/kill.py" in words
    return not client and state not in ([], [b"Z"], [b"X"]) and any(mark in held for mark in marks)


def _parent(pid: int) -> int:
    return int(_read(pid, "stat").rpartition(b")")[2].split()[1])


def _first(pid: int) -> bool:
    """Tell whether a process is pid 1 in its own namespace: it outlives all others there."""
    return b"\t1\n" in _read(pid, "status").partition(b"NSpid:")[2].partition(b"Ngid")[0].splitlines(keepends=True)[0]


def _uts(pid: int) -> str:
    done = subprocess.run(["nsenter", "-t", str(pid), "-u", "hostname"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


# ── ends ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _send(number: signal.Signals, times: int = 1) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        for _ in range(times):
            run.client.send_signal(number)
            time.sleep(0.3)

    return end


def _kill(*who: str) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        guards = run.guards(run.first_server())
        for name in who:
            os.kill(guards[name], signal.SIGSTOP)  # neither may act on the other's death
        for name in who:
            os.kill(guards[name], signal.SIGKILL)

    return end


def _alone(run: Run) -> None:
    """Both guards of a server killed with nobody watching: until a `stop` from another terminal."""
    run.client.kill()
    _kill("guard", "guardian")(run)
    run.stop()


def _hangup(run: Run) -> None:
    """Close the terminal that the client runs in."""
    os.close(run.master)
    run.master = -1


def _fault(kind: str) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        run.lab.fault(kind, [VICTIM])

    return end


def _hang(run: Run) -> None:
    """A frozen server can't end its own processes; it must do so when it wakes, and its operator is gone."""
    run.lab.fault("host_hung", [VICTIM])
    run.client.kill()  # a client that lives finds its way back, and the job goes on
    time.sleep(LEASE_S + 2)
    run.lab.heal()


def _network(run: Run) -> None:
    """The victim's own management port goes down: no packet passes, no connection is closed."""
    inside = next(p for p in _lab_pids(run.lab) if _first(p) and _uts(p) == VICTIM)
    subprocess.run(["nsenter", "-t", str(inside), "-n", "ip", "link", "set", "mgmt0", "down"], check=True)
    time.sleep(LEASE_S + GRACE_S + 2)
    left = len([p for p in run.left() if _uts(p) == VICTIM])
    subprocess.run(["nsenter", "-t", str(inside), "-n", "ip", "link", "set", "mgmt0", "up"], check=True)
    if left:
        print(f"  {left} processes were left on {VICTIM} while it was cut off, after its lease", flush=True)


def _sessions(run: Run) -> None:
    """Every sshd process that serves a session on either server; the listening ones stay."""
    for pid in _lab_pids(run.lab):
        if _read(pid, "cmdline").startswith(b"sshd: root@"):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    run.client.kill()  # else it would come back, and the job go on as if nothing had been


def _a_rank(run: Run) -> None:
    """One rank of a job that nobody is attached to."""
    words = f"stubborn_job.py\0/tmp/kill-{run.number}".encode()
    ranks = [p for p in run.left() if words in _read(p, "cmdline")]
    os.kill(min(p for p in ranks if _uts(p) == VICTIM), signal.SIGKILL)


class End(NamedTuple):
    """How to end a job; ``lonely``: nothing that other jobs on the lab would notice."""

    work: Callable[[Run], None]
    lonely: bool = True
    moments: tuple[str, ...] = MOMENTS
    detached: bool = False
    terminal: bool = False
    frozen: bool = False


STARTED = MOMENTS[1:]
STANDING = MOMENTS[2:]  # before that a client that lives waits, and the job goes on
ENDS: dict[str, End] = {
    "kill -9 client": End(_send(signal.SIGKILL)),
    "HUP client": End(_send(signal.SIGHUP)),
    "TERM client": End(_send(signal.SIGTERM)),
    "Ctrl-C once": End(_send(signal.SIGINT)),
    "Ctrl-C twice": End(_send(signal.SIGINT, 2)),
    "closed terminal (pty)": End(_hangup, terminal=True),
    "client frozen (STOP)": End(_send(signal.SIGSTOP), frozen=True),
    "kill -9 guard": End(_kill("guard"), moments=STARTED),
    "kill -9 guardian": End(_kill("guardian"), moments=STARTED),
    "kill -9 both guards": End(_kill("guard", "guardian"), moments=STARTED),
    "kill -9 both and client, stop": End(_alone, moments=STARTED),
    "detached: left to its lease": End(lambda _: None, moments=("training",), detached=True),
    "detached: kill -9 a rank": End(_a_rank, moments=("training",), detached=True),
    "detached: kill -9 guard": End(_kill("guard"), moments=("training",), detached=True),
    "kill -9 sshd sessions and client": End(_sessions, lonely=False),
    "network drop": End(_network, lonely=False, moments=STANDING),
    "server hangs, client killed": End(_hang, lonely=False, moments=STANDING),
    "power off": End(_fault("power_off"), lonely=False, moments=STARTED),
    "reboot": End(_fault("reboot"), lonely=False, moments=STARTED),
    "detached: power off": End(_fault("power_off"), lonely=False, moments=("training",), detached=True),
}


class Row(NamedTuple):
    """One end at one moment."""

    end: str
    moment: str
    before: int
    left: int
    seconds: float | None
    exit: int | None
    ps: str
    note: str = ""


def wait(true: Callable[[], bool], limit_s: float) -> float | None:
    began = time.monotonic()
    while time.monotonic() - began < limit_s:
        if true():
            return time.monotonic() - began
        time.sleep(0.1)
    return None


def reach(run: Run, moment: str) -> str:
    """Wait for the moment; return what went wrong."""
    if moment == "before":
        time.sleep(0.6)
        return ""
    here = run.began if moment == "init" else run.stands
    wait(lambda: here() or (not run.detached and run.client.poll() is not None), 60)
    if not here():
        return f"never stood (client exit {run.client.poll()}): {run.last_words()}"
    if moment == "init":
        wait(lambda: bool(run.job), 10)
        time.sleep(0.3)
    elif moment == "training":
        time.sleep(1.5)
    else:
        run.client.send_signal(signal.SIGINT)
        time.sleep(1.0)
    return ""


def one(lab: Lab, name: str, moment: str) -> Row:
    end = ENDS[name]
    grace_s = STOPPING_GRACE_S if moment == "stopping" else GRACE_S
    STARTING.acquire()
    run = Run(lab, detached=end.detached, terminal=end.terminal, grace_s=grace_s)
    try:
        try:
            note = reach(run, moment)
        finally:
            STARTING.release()
        if note:
            return Row(name, moment, 0, 0, None, None, "-", note)
        before = len(run.left())
        try:
            end.work(run)
        except (LabError, StopIteration, OSError) as error:
            return Row(name, moment, before, 0, None, None, "-", f"skipped: {error!r}")
        if moment == "before":
            time.sleep(3.0)  # what was on its way would stand by now
        took = wait(lambda: not run.left(), LIMIT_S)
        left = len(run.left())
        if not end.lonely:
            with suppress(LabError):
                lab.heal()
        if not end.frozen:
            with suppress(subprocess.TimeoutExpired):
                run.client.wait(60)
        return Row(name, moment, before, left, took, run.client.poll(), run.ps() if run.job else "-")
    finally:
        if not end.lonely:
            with suppress(LabError):
                lab.heal()
        run.over()


def every(lab: Lab, cells: list[tuple[str, str]]) -> Iterable[Row]:
    """Ends that touch one job alone run side by side; those that touch a server, one after another."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(lambda cell: one(lab, *cell), [c for c in cells if ENDS[c[0]].lonely])
    for cell in cells:
        if not ENDS[cell[0]].lonely:
            yield one(lab, *cell)


def main(repeats: int, words: list[str]) -> int:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what we start must hear it, even where nohup started us
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or a shell in the background
    cells = [(name, moment) for _ in range(repeats) for name, end in ENDS.items() for moment in end.moments]
    cells = [(n, m) for n, m in cells if not words or any(w in f"{n} @{m}" for w in words)]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        spec = LabSpec(directory=Path(folder) / "lab", door=Door.ROOT, ssh=Ssh.OPENSSH)
        if lacks := "; ".join(en for en, _ in missing(spec)):
            print(lacks)
            return 2
        up(spec)
        lab = Lab.open(Path(folder) / "lab")
        try:
            address(lab)
            print(
                f"lease {LEASE_S} s, grace {GRACE_S} s; left: after at most {LIMIT_S} s; load {os.getloadavg()[0]:.1f}"
            )
            print(f"{'end':<32}{'moment':<10}{'before':>7}{'left':>6}{'seconds':>9}  exit  ps")
            for row in every(lab, cells):
                print(line(row), flush=True)
                rows.append(row)
        finally:
            lab.down()
    return told(rows)


def address(lab: Lab) -> None:
    """A job starts on devices that have their addresses."""
    words = [sys.executable, "-m", "rankready", "-f", str(lab.directory / "cluster.yaml"), "apply", "--yes"]
    subprocess.run(words, check=True, capture_output=True)


def line(row: Row) -> str:
    took = "-" if row.seconds is None else f"{row.seconds:.1f}"
    code = "-" if row.exit is None else str(row.exit)
    return f"{row.end:<32}{row.moment:<10}{row.before:>7}{row.left:>6}{took:>9}  {code:<5} {row.ps}  {row.note}"


def told(rows: list[Row]) -> int:
    tried = [r for r in rows if not r.note]
    bad = [r for r in tried if r.left or r.ps not in ("-", "ended", "stopped", "failed")]
    by_moment = Counter(r.moment for r in tried)
    counts = ", ".join(f"{by_moment[m]} {m}" for m in MOMENTS)
    print(f"{len(tried)} hard ends ({counts}), {len(rows) - len(tried)} not tried")
    print(f"left behind: {sum(r.left for r in tried)} processes in {len(bad)} of them")
    return 1 if bad or not tried or len(tried) < len(rows) else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:]))
