# ruff: noqa: UP006, UP035, TC001  (sent to servers as part of one file, where Python may be 3.7)
"""What a controller asks of a job's guard. This file is the one that runs on a server; the others come with it.

Started as ``python3 -I -S guard.py MODE NONCE ...`` or fed to ``python3 -I -S -``. Every line that it prints starts
with NONCE, so that what login files print can't be mistaken for it.

::

    start FOLDER GUARD_SHA SPEC_SHA   check both files, become guardian and guard, start the ranks, say ready
    watch FOLDER [OFFSETS]            print frames; any byte read is a beat; "stop GRACE", "kill", "begin" are orders
    poll FOLDER                       one object: how the job stands
    stop FOLDER GRACE                 order the end, wait for it, say what is left
    sweep JOB                         kill by tag, guard and guardian first
    jobs FOLDER                       poll every job folder in FOLDER
    port NUMBER SECONDS               wait until something listens there
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Tuple

from rankready.runs.data.guard import LOOK_S, ready, start
from rankready.runs.data.kin import (
    KILL_LIMIT_S,
    Fields,
    Pids,
    alive,
    boot_id,
    carries,
    end_all,
    members,
    process_table,
    read,
    send,
    tags_of,
    write,
)

FRAME_BYTES = 32768
PIECES = 16


def status(folder: Path) -> Fields:
    """Tell how a job stands."""
    state, ended = read(folder / "state"), read(folder / "exit")
    known = ended or state
    if not known:
        return {"job": folder.name, "phase": "unknown", "ranks": []}
    if not ended and known["boot_id"] != boot_id():
        known = ended = {**known, "cause": "restarted", "left": []}  # nothing outlives its server's kernel
    guarded = alive(known["guard"]) or alive(known["guardian"])
    if not ended and not guarded:
        ended = read(folder / "exit")  # it may have ended while we looked
        if not ended and not remains(folder, known):
            ended = {**known, "cause": "guard_gone", "left": []}
        known = ended or known
    phase = "ended" if ended else "running" if guarded else "unguarded"
    if phase == "running" and known.get("detached") and not (folder / "begun").exists():
        phase = "starting"
    keys = ("job", "started", "lease_s", "detached", "ranks", "cause", "left", "at")
    sizes = {r["log"]: size_of(folder / r["log"]) for r in known["ranks"]}
    return {"phase": phase, "clock": time.time(), "sizes": sizes, **{k: known.get(k) for k in keys}}


def remains(folder: Path, state: Fields) -> Pids:
    """Find what still lives of a job that nobody guards."""
    me = {os.getpid(), os.getppid()}
    return members(tags_of("RANKREADY_JOB", folder.name, folder), 0, registry_of(state), me, logs=str(folder))


def registry_of(state: Fields) -> Pids:
    """Return the processes that a guard wrote down, by pid."""
    registry = {int(p): s for p, s in state.get("registry", {}).items()}
    registry.update({r["pid"]: r["start"] for r in state.get("ranks", [])})
    return registry


def size_of(path: Path) -> int:
    """Return a file's size; 0 for none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def order(folder: Path, why: str, grace_s: float) -> None:
    """Leave an order where the guard looks for it."""
    write(folder / "order", {"why": why, "grace_s": grace_s, "kill": why == "kill"})


def stop(folder: Path, grace_s: float) -> Fields:
    """Order the end and wait for it; sweep where nobody guards any more."""
    order(folder, "stop", grace_s)
    until = time.monotonic() + grace_s + KILL_LIMIT_S + 5
    while time.monotonic() < until and status(folder)["phase"] in ("running", "starting"):
        time.sleep(LOOK_S)
    now = status(folder)
    if now["phase"] != "ended":
        left = sweep(folder.name, folder)["left"]
        now = {**status(folder), "left": left}
    return now


def sweep(job: str, folder: Path) -> Fields:
    """Kill guard and guardian, then everything that carries the job's tags or stands in its registry."""
    me = {os.getpid(), os.getppid()}
    state = read(folder / "state") if read(folder / "state").get("boot_id") == boot_id() else {}
    guards = guards_of(job, folder, state, me)
    send(guards, signal.SIGSTOP)
    registry = registry_of(state)
    tags = tags_of("RANKREADY_JOB", job, folder) if folder.is_dir() else frozenset((f"RANKREADY_JOB={job}".encode(),))
    found: Pids = {}
    logs = str(folder) if folder.is_dir() else ""
    for root in (0, *guards):
        found.update(members(tags, root, registry, me | set(guards), logs=logs))
    send(guards, signal.SIGKILL)
    left = end_all(lambda: members(tags, 0, {**registry, **found}, me, logs=logs), 0.0, lambda: False)
    if state and not left and not (folder / "exit").exists():
        write(folder / "exit", {**state, "cause": "guard_gone", "left": [], "at": time.time()})
    return {"event": "swept", "job": job, "found": len(found) + len(guards), "left": left}


def guards_of(job: str, folder: Path, state: Fields, spare: set[int]) -> Pids:
    """Find guard and guardian: as the state file names them, and by their own tags."""
    tags = (
        tags_of("RANKREADY_GUARD", job, folder) if folder.is_dir() else frozenset((f"RANKREADY_GUARD={job}".encode(),))
    )
    table = process_table()
    found = {p: t.start for p, t in table.items() if p not in spare and t.state not in "ZX" and carries(p, tags)}
    found.update({who[0]: who[1] for who in (state.get("guard"), state.get("guardian")) if who and alive(who)})
    return found


def listens(port: int) -> bool:
    """Tell whether some socket of this network namespace listens on a TCP port."""
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    return True
    return False


def wait_for_port(port: int, seconds: float) -> Fields:
    """Wait until a port listens."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not listens(port):
        time.sleep(0.02)
    return {"event": "port", "port": port, "listens": listens(port)}


class Watch:
    """One controller's view: frames out, beats and orders in. Its death means nothing to the job but a missed beat."""

    def __init__(self, folder: Path, nonce: str, offsets: Dict[str, int]) -> None:
        self.folder = folder
        self.nonce = nonce
        self.offsets = offsets
        self.events_read = 0
        self.beats = 0
        self.begun = False
        self.closed = False
        self.woken = threading.Event()

    def run(self) -> None:
        """Print frames until the job is over and everything was told, or nobody listens."""
        threading.Thread(target=self.listen, daemon=True).start()
        self.frame({**ready(read(self.folder / "state")), "watch": os.getpid()})
        checked = time.monotonic()
        answered = 0
        while not self.closed:
            moved, over = self.tell_news()
            if over:
                return
            if answered != self.beats:
                answered = self.beats
                self.frame({"event": "beat", "clock": time.time(), "beats": answered})
            if time.monotonic() - checked > 1:
                checked = time.monotonic()
                self.check_guard()
            if not moved:
                self.woken.wait(LOOK_S)
                self.woken.clear()

    def tell_news(self) -> Tuple[bool, bool]:
        """Tell what logs and events grew by, logs first; return whether there was output, and whether all is over."""
        events = self.new_events()
        over = any(e["event"] == "ended" for e in events)
        moved = self.pump_logs()
        while over and self.pump_logs():
            pass
        if self.begun:
            self.begun = False
            self.frame({"event": "begun"})
        for line in events:
            self.frame(line)
        return moved, over

    def listen(self) -> None:
        """Take beats and orders in a thread of its own: a slow reader of frames must not cost the lease."""
        rest = b""
        while True:
            data = os.read(0, 4096)
            if not data:
                break
            with contextlib.suppress(OSError):
                os.utime(str(self.folder / "lease"))
            self.beats += 1
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                words = line.split()
                if words[:1] == [b"stop"]:
                    order(self.folder, "stop", float(words[1]))
                if words[:1] == [b"kill"]:
                    order(self.folder, "kill", 0.0)
                if words[:1] == [b"begin"]:
                    self.begin()
            self.woken.set()
        self.closed = True
        self.woken.set()

    def begin(self) -> None:
        """Note that all servers run their share: from now on only the job's own lease counts."""
        with contextlib.suppress(FileExistsError):
            os.close(os.open(str(self.folder / "begun"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self.begun = True

    def frame(self, fields: Fields) -> None:
        """Print one frame."""
        data = f"{self.nonce} {json.dumps(fields)}\n".encode()
        while data:
            data = data[os.write(1, data) :]

    def new_events(self) -> List[Fields]:
        """Read whole event lines that were not told yet."""
        with contextlib.suppress(OSError), (self.folder / "events").open("rb") as file:
            file.seek(self.events_read)
            whole = file.read().rpartition(b"\n")[0]
            self.events_read += len(whole) + 1 if whole else 0
            return [json.loads(line) for line in whole.splitlines()]
        return []

    def pump_logs(self) -> bool:
        """Tell what the logs grew by; True when there was something."""
        moved = False
        for rank in read(self.folder / "state").get("ranks", []):
            for _ in range(PIECES):  # a rank that prints without end must not silence the others, nor cost the beats
                if not self.pump(rank):
                    break
                moved = True
        return moved

    def pump(self, rank: Fields) -> bool:
        """Tell one piece of one log."""
        log, at = rank["log"], self.offsets.get(rank["log"], 0)
        try:
            with (self.folder / log).open("rb") as file:
                at = 0 if os.fstat(file.fileno()).st_size < at else at  # somebody emptied it
                held = next_held(file.fileno(), at)
                if held > at:
                    self.frame({"event": "skipped", "stream": log, "rank": rank["rank"], "bytes": held - at})
                at = held
                file.seek(at)
                data = file.read(FRAME_BYTES)
                if next_held(file.fileno(), at) != at:  # given back while it was read
                    data = b""
        except OSError:
            return False
        self.offsets[log] = at + len(data)
        if data:
            shown = {"rank": rank["rank"], "local_rank": rank["local_rank"], "stream": log}
            self.frame({"event": "output", **shown, "offset": at, "data": base64.b64encode(data).decode()})
        return bool(data)

    def check_guard(self) -> None:
        """Where guard and guardian were both killed, do what they would have done."""
        now = status(self.folder)
        if now["phase"] not in ("unguarded", "ended") or read(self.folder / "exit"):
            return
        left = sweep(self.folder.name, self.folder)["left"]
        self.frame({"event": "stopping", "cause": "guard_gone", "at": time.time()})
        self.pump_logs()
        self.frame({"event": "left", "left": left})
        self.frame({"event": "ended", "cause": "guard_gone", "at": time.time(), "ranks": now["ranks"]})
        self.closed = True


def next_held(handle: int, at: int) -> int:
    """Return where the next byte lies that a log still holds: its guard gives back the oldest part of a long one."""
    try:
        return os.lseek(handle, at, os.SEEK_DATA)
    except OSError:
        return at


def offsets_of(text: str) -> Dict[str, int]:
    """Read ``rank-0.log:120,rank-1.log:7``."""
    pairs = (item.rpartition(":") for item in text.split(",") if item)
    return {name: int(number) for name, _, number in pairs}


def answer(mode: str, rest: List[str]) -> Fields:
    """Do what is answered by one object."""
    if mode == "sweep":
        return sweep(rest[0], Path.home() / ".rankready" / "jobs" / rest[0])
    if mode == "port":
        return wait_for_port(int(rest[0]), float(rest[1]))
    folder = Path(rest[0])
    if mode == "start":
        return start(folder, rest[1], rest[2])
    if mode == "stop":
        return stop(folder, float(rest[1]))
    if mode == "jobs":
        return {"jobs": [status(f) for f in sorted(folder.iterdir())] if folder.is_dir() else []}
    return status(folder)


def main(argv: List[str]) -> int:
    """Read the mode and do it."""
    mode, nonce, *rest = argv
    if mode == "watch":
        with contextlib.suppress(BrokenPipeError):
            Watch(Path(rest[0]), nonce, offsets_of(rest[1] if len(rest) > 1 else "")).run()
        return 0
    said = answer(mode, rest)
    os.write(1, f"\n{nonce} {json.dumps(said)}\n".encode())
    return 1 if said.get("event") == "refused" or said.get("left") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
