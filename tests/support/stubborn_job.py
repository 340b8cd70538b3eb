"""A job that won't go: a parent and ten children, each with a child of its own, all with a way to be missed.

Run as ``python3 stubborn_job.py FOLDER``; every process notes its pid and start time as a file FOLDER/PID.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
# the folder's number tells this job's sleepers from all others, for who looks from outside of its namespaces
SECONDS = "600." + ("".join(c for c in FOLDER.name if c.isdigit()) or "0")


def start_time(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; None for a process that is gone, or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def note(pid: int) -> None:
    new = FOLDER / f".{pid}"
    new.write_text(str(start_time(pid)))
    new.rename(FOLDER / str(pid))


def alive(folder: Path) -> list[int]:
    """Which of the noted processes still live."""
    return [int(p.name) for p in folder.iterdir() if p.name.isdigit() and start_time(int(p.name)) == int(p.read_text())]


def tagged(job: str) -> list[int]:
    """Which processes carry the job's tag."""
    tag = f"RANKREADY_JOB={job}".encode()
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208  (names alone are wanted)
        if name.isdigit() and start_time(int(name)) is not None:
            try:
                items = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if tag in items:
                found.append(int(name))
    return found


def ignore(*numbers: int) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def sit() -> None:
    """Note this process and a sleeping child, then wait for ever."""
    note(os.getpid())
    pid = os.spawnvp(os.P_NOWAIT, "sleep", ["sleep", SECONDS])  # noqa: S606  (no shell is meant)
    note(pid)
    while True:
        time.sleep(600)


def daemon(*, wiped: bool, silent: bool = False) -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    ignore(signal.SIGTERM)
    if silent:
        to_nowhere()
    if wiped:
        os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, str(FOLDER), "sit"], {})  # noqa: S606  (no shell is meant)
    sit()


def to_nowhere() -> None:
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)


def own_session_and_deaf() -> None:
    os.setsid()
    ignore(signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


def close_all() -> None:
    for number in (0, 1, 2):
        os.close(number)


KINDS = (
    lambda: ignore(signal.SIGHUP),
    lambda: ignore(signal.SIGHUP, signal.SIGTERM, signal.SIGINT),
    os.setsid,
    own_session_and_deaf,
    lambda: daemon(wiped=False),
    lambda: daemon(wiped=True),
    lambda: daemon(wiped=True, silent=True),
    to_nowhere,
    close_all,
    lambda: None,
)
PROCESSES = 1 + 2 * len(KINDS)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    note(os.getpid())
    for kind in KINDS:
        if os.fork() == 0:
            kind()  # type: ignore[no-untyped-call]
            sit()
    while True:
        print("working", flush=True)  # noqa: T201  (a rank prints)
        time.sleep(0.2)


if __name__ == "__main__":
    if sys.argv[2:] == ["sit"]:
        sit()
    main()
