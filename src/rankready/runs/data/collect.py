# ruff: noqa: UP006, UP035  (sent to servers, where Python may be 3.7; no package)
"""Send a job's logs as one tar.gz stream on stdout, after a line with the request's nonce.

The request comes on stdin: its length, a line end, then JSON with nonce, job ("" = none), since (seconds since the
epoch), file_limit and limit (bytes), and have (name → size and time of change in seconds, of files that the other side
has whole: they are not sent again). Small and telling files come first, so that a cut costs the least. The last member,
``gaps.json``, says what was not read and why, what was cut, how many files were there already, and what this server's
clock shows.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from shutil import which
from typing import Any, Dict, Iterator, List, Tuple

DMESG_S = 20
SYSTEM_BYTES = 4 << 20
SOCKETS_S = 10
MOST_ENTRIES = 500  # of a folder in which exports of devices are looked for
Found = Iterator[Tuple[str, Path]]


class Bag:
    """The stream, how much it may still take, and what is missing from it."""

    def __init__(self, request: Dict[str, Any]) -> None:
        self.left = int(request["limit"])
        self.file_limit = int(request["file_limit"])
        self.gaps: List[Dict[str, str]] = []
        self.absent: List[str] = []
        self.have: Dict[str, List[int]] = request.get("have") or {}
        self.files = self.kept = 0
        self.tar = tarfile.open(fileobj=sys.stdout.buffer, mode="w|gz")  # noqa: SIM115  (closed by main)

    def gap(self, what: str, reason: object) -> None:
        """Note what is missing."""
        self.gaps.append({"what": what, "reason": str(reason)})

    def add_file(self, name: str, path: Path, limit: int) -> None:
        """Take the end of one file, as much as may still come."""
        try:
            with path.open("rb") as file:
                told = os.fstat(file.fileno())
                size = told.st_size
                if self.have.get(name) == [size, int(told.st_mtime)]:
                    self.kept += 1
                    return
                room = min(limit, self.left)
                at = held_from(file.fileno(), max(0, size - room))
                file.seek(at)
                data = file.read(size - at)
                when = told.st_mtime
        except OSError as error:
            self.gap(name, error.strerror or error)
            return
        if at:
            self.gap(name, f"cut: the last {len(data)} of {size} bytes")
        if data or not size:
            self.add(name, data, when)

    def add(self, name: str, data: bytes, when: float) -> None:
        """Put one member into the stream."""
        member = tarfile.TarInfo(name)
        member.size, member.mtime, member.mode = len(data), int(when), 0o600
        self.tar.addfile(member, io.BytesIO(data))
        self.left -= len(data)
        self.files += 1


def held_from(handle: int, at: int) -> int:
    """Return where a file's next bytes lie: the guard gives back the oldest part of a long log."""
    try:
        return os.lseek(handle, at, os.SEEK_DATA)
    except OSError:
        return at


def below(folder: Path, name: str, since: float) -> Found:
    """Yield regular files below a folder that were written since then; links are not followed."""
    for here, folders, files in os.walk(str(folder)):
        folders.sort()
        for file in sorted(files):
            path = Path(here) / file
            try:
                fresh = path.is_file() and not path.is_symlink() and path.stat().st_mtime >= since
            except OSError:
                continue
            if fresh:
                yield f"{name}/{path.relative_to(folder).as_posix()}", path


def ascend_logs(job: Path, since: float) -> List[Tuple[str, Path]]:
    """Return the job's own Ascend logs, else those in the home folder; error logs before the bulk of run logs."""
    home = Path.home() / "ascend" / "log"
    places = [(job / "ascend" / "log", 0.0), (home, since)]
    for folder, newer in places:
        found = list(below(folder, "ascend/log", newer)) if folder.is_dir() else []
        if found:
            return sorted(found, key=lambda item: "/run/" in item[0])
    return []


def collect(bag: Bag, job: str, since: float) -> None:
    """Take everything, the telling parts first."""
    folder = Path.home() / ".rankready" / "jobs" / job if job else Path("/nonexistent")
    if job and not folder.is_dir():
        bag.absent.append("the job's folder")
    own = [(f"meta/{name}.json", folder / name) for name in ("exit", "state", "events") if (folder / name).is_file()]
    for name, path in [*below(folder / "train", "train", 0.0), *own]:
        bag.add_file(name, path, bag.file_limit)
    ask(bag, "os/dmesg", ["dmesg", "-T"], DMESG_S)
    if which("ss"):
        ask(bag, "meta/ss_listen.txt", ["ss", "-ltnp"], SOCKETS_S)
    for name, path in [*system_logs(), *exports(since)]:
        bag.add_file(name, path, SYSTEM_BYTES)
    logs = ascend_logs(folder, since)
    if not logs:
        bag.absent.append("ascend/log")
    for name, path in logs:
        bag.add_file(name, path, bag.file_limit)


def system_logs() -> List[Tuple[str, Path]]:
    """Name the system's own logs that are there."""
    folder = Path(os.environ.get("RANKREADY_ROOT", "") + "/var/log")
    return [(f"os/{name}", folder / name) for name in ("messages", "syslog") if (folder / name).is_file()]


def exports(since: float) -> List[Tuple[str, Path]]:
    """Name the files of the newest export of device logs that was made since the job began; events come first."""
    root = Path(os.environ.get("RANKREADY_ROOT", "") + "/var/log/npu")
    folders = [f for place in (Path.home(), root) for f in [place, *entries(place)] if has_device_logs(f)]
    found: List[Tuple[str, Path]] = []
    for folder in sorted(folders, key=changed, reverse=True)[:1]:
        for part in ("slog", "hisi_logs"):
            found += below(folder / part, f"device_log/{part}", since)
    return sorted(found, key=lambda item: "/event/" not in item[0])


def entries(folder: Path) -> List[Path]:
    """Return the folders in a folder."""
    try:
        return [Path(e.path) for e in list(os.scandir(str(folder)))[:MOST_ENTRIES] if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def has_device_logs(folder: Path) -> bool:
    """Tell whether a folder looks as the vendor's exporter leaves it."""
    logs = any(e.name.startswith("dev-os-") for e in entries(folder / "slog"))
    return logs or (folder / "hisi_logs").is_dir()


def changed(folder: Path) -> float:
    """When a folder was last written to."""
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def ask(bag: Bag, name: str, words: List[str], limit_s: float) -> None:
    """Keep what a program prints; the kernel's log is often refused in containers, and to users."""
    try:
        english = dict(os.environ, LC_ALL="C")
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, check=False, env=english
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        bag.gap(name, error)
        return
    if done.returncode:
        bag.gap(name, done.stderr.decode(errors="replace").strip()[:200] or f"exit {done.returncode}")
        return
    bag.add(name, done.stdout[-SYSTEM_BYTES:], time.time())


def main() -> int:
    """Read the request, send the stream."""
    size = int(sys.stdin.buffer.readline())
    request = json.loads(sys.stdin.buffer.read(size).decode())
    sys.stdout.buffer.write(b"\n" + request["nonce"].encode() + b"\n")
    bag = Bag(request)
    collect(bag, request["job"], float(request["since"]))
    last = {"gaps": bag.gaps, "absent": bag.absent, "files": bag.files, "kept": bag.kept, "clock": time.time()}
    bag.left = 1 << 30
    bag.add("gaps.json", json.dumps(last).encode(), time.time())
    bag.tar.close()
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
