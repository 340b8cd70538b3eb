"""What is left of a job after each way to end it, on a lab: ends by left-overs.

Run: ``python bench/kill.py [repeats] [words of ends ...]``. The job is two servers' worth of processes that ignore
signals, leave their session, become daemons, wipe their environment. Counted from outside of the lab's namespaces: by
command line and by tag, guards included. Needs root (it reads other namespaces' processes).
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

STUBBORN = Path(__file__).parents[1] / "tests" / "support" / "stubborn_job.py"
LEASE_S, GRACE_S = 5, 1
LIMIT_S = LEASE_S + GRACE_S + 25
EACH = 21  # processes of one rank of the stubborn job
VICTIM = "server2"


class Run:
    """One job on the lab, and what of it still lives."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.number = lab, str(10**9 + secrets.randbelow(10**9))
        self.began = time.time()
        words = ["run", "--no-sync", "--nproc-per-node", "1", "--lease", str(LEASE_S), "--grace", str(GRACE_S)]
        words += ["--python", sys.executable, str(STUBBORN), f"/tmp/kill-{self.number}"]  # noqa: S108  (the lab's own /tmp)
        self.client = subprocess.Popen(
            self.program(*words), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.job = ""

    def program(self, *words: str) -> list[str]:
        """Make a call of ours on this lab."""
        return [sys.executable, "-m", "rankready", "-f", str(self.lab.directory / "cluster.yaml"), *words]

    def stands(self) -> bool:
        """Tell whether every process of the job is there."""
        jobs = self.lab.directory / ".rankready" / "jobs"
        found = [p.name for p in jobs.iterdir() if p.stat().st_mtime >= self.began] if jobs.is_dir() else []
        self.job = max(found, default="")
        return bool(self.job) and len(self.left()) >= 2 * EACH + 4

    def left(self) -> list[int]:
        """Return all of the job's processes that live, guards included."""
        marks = [self.number.encode(), f"RANKREADY_JOB={self.job}\0".encode(), f"RANKREADY_GUARD={self.job}\0".encode()]
        own = (os.getpid(), self.client.pid)
        return [p for p in _pids() if p not in own and _carries(p, marks)]

    def guards(self) -> dict[str, int]:
        """The victim server's guard and guardian, as this machine numbers them: the guardian is the parent."""
        mark = f"RANKREADY_GUARD={self.job}\0".encode()
        both = [p for p in self.left() if mark in _read(p, "environ") and b"/guard.py\0start" in _read(p, "cmdline")]
        inside = [p for p in both if self._on_victim(p)]
        guard = next(p for p in inside if _parent(p) in inside)
        return {"guard": guard, "guardian": _parent(guard)}

    def _on_victim(self, pid: int) -> bool:
        return VICTIM in _read(pid, "root/etc/hostname").decode() or _uts(pid) == VICTIM

    def stop(self) -> None:
        """End the job from another terminal."""
        subprocess.run(self.program("stop", "--yes", "--grace", "0", self.job), capture_output=True, check=False)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  (one system call, no objects)


def _read(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


def _carries(pid: int, marks: list[bytes]) -> bool:
    state = _read(pid, "stat").rpartition(b")")[2].split()[:1]
    held = _read(pid, "cmdline") + _read(pid, "environ")
    return state not in ([], [b"Z"], [b"X"]) and any(mark in held for mark in marks)


def _parent(pid: int) -> int:
    return int(_read(pid, "stat").rpartition(b")")[2].split()[1])


def _uts(pid: int) -> str:
    done = subprocess.run(["nsenter", "-t", str(pid), "-u", "hostname"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _send(number: signal.Signals, times: int = 1) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        for _ in range(times):
            run.client.send_signal(number)
            time.sleep(0.3)

    return end


def _kill(*who: str) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        pids = [run.guards()[name] for name in who]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)  # neither may act on the other's death
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    return end


def _alone(run: Run) -> None:
    """Both guards of a server killed with nobody watching: until a `stop` from another terminal."""
    run.client.kill()
    _kill("guard", "guardian")(run)
    run.stop()


def _fault(kind: str) -> Callable[[Run], None]:
    def end(run: Run) -> None:
        run.lab.fault(kind, [VICTIM])

    return end


def _hang(run: Run) -> None:
    """A frozen server can't end its own processes; it must do so at once when it wakes after the lease."""
    run.lab.fault("host_hung", [VICTIM])
    time.sleep(LEASE_S + 2)
    run.lab.heal()


ENDS: dict[str, Callable[[Run], None]] = {
    "kill -9 client": _send(signal.SIGKILL),
    "closed terminal (HUP)": _send(signal.SIGHUP),
    "TERM client": _send(signal.SIGTERM),
    "Ctrl-C once": _send(signal.SIGINT),
    "Ctrl-C twice": _send(signal.SIGINT, 2),
    "client frozen, no beats": _send(signal.SIGSTOP),
    "kill -9 guard": _kill("guard"),
    "kill -9 guardian": _kill("guardian"),
    "kill -9 both guards": _kill("guard", "guardian"),
    "kill -9 both and client, stop": _alone,
    "server hangs, wakes later (lab)": _hang,
    "power off (lab)": _fault("power_off"),
    "reboot (lab)": _fault("reboot"),
}


def wait(true: Callable[[], bool], limit_s: float) -> float | None:
    began = time.monotonic()
    while time.monotonic() - began < limit_s:
        if true():
            return time.monotonic() - began
        time.sleep(0.1)
    return None


def one(lab: Lab, name: str) -> tuple[str, ...]:
    run = Run(lab)
    try:
        if wait(run.stands, 40) is None:
            return (name, "-", "-", "-", f"never stood (client exit {run.client.poll()})")
        time.sleep(1.5)
        before = len(run.left())
        try:
            ENDS[name](run)
        except LabError as error:
            return (name, str(before), "-", "-", f"skipped: {error}")
        took = wait(lambda: not run.left(), LIMIT_S)
        left = len(run.left())
        if "frozen" not in name:
            with suppress(subprocess.TimeoutExpired):
                run.client.wait(45)
        return (name, str(before), str(left), "-" if took is None else f"{took:.1f}", str(run.client.poll()))
    finally:
        with suppress(LabError):
            lab.heal()
        run.client.kill()
        run.client.wait()
        run.stop()


def main(repeats: int, words: list[str]) -> int:
    bad = 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        up(LabSpec(directory=Path(folder) / "lab", door=Door.AUTO))
        lab = Lab.open(Path(folder) / "lab")
        try:
            told = json.loads((lab.directory / "lab.json").read_text())
            print(f"door {told.get('door')}; lease {LEASE_S} s, grace {GRACE_S} s; left: after at most {LIMIT_S} s")
            print(f"{'end':<32}{'before':>8}{'left':>6}{'seconds to 0':>14}  client's exit")
            for name in [n for n in ENDS if not words or any(w in n for w in words)]:
                for _ in range(repeats):
                    row = one(lab, name)
                    bad += row[2] not in ("0", "-")
                    print(f"{row[0]:<32}{row[1]:>8}{row[2]:>6}{row[3]:>14}  {row[4]}", flush=True)
        finally:
            lab.down()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1, sys.argv[2:]))
