# ruff: noqa: UP006, UP035  (sent to servers, where Python may be 3.7; no package)
"""Cut the lines that can mean something out of a job's logs on this server, and print them as one line of JSON.

It runs behind the source of the selection stage, whose ``Sieve`` and ``select`` it uses. The request comes on stdin:
its length, a line end, then JSON with nonce, job, since (seconds since the epoch), pids, sieves (name → the fields of a
Sieve, its literals as Latin-1 text) and limit (characters). The answer: files (file, size, notes, lines), gaps, clock.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Tuple

if TYPE_CHECKING:
    from rankready.runs.why_select import Sieve, select  # noqa: TC004  (its source stands before this one)

DMESG_S = 20
COUNTED = 1 << 62  # nobody can count the lines of these files later
ASCEND = re.compile(r"(plog|device)-(\d{1,10})_\d{17}\.log(\.\d+)?(\.gz)?$")


def walk(folder: Path, name: str) -> Iterator[Tuple[str, Path]]:
    """Yield regular files below a folder; links are not followed."""
    for here, folders, files in os.walk(str(folder)):
        folders.sort()
        for file in sorted(files):
            path = Path(here) / file
            if path.is_file() and not path.is_symlink():
                yield f"{name}/{path.relative_to(folder).as_posix()}", path


def ascend(job: Path, request: Dict[str, Any]) -> List[Tuple[str, Path]]:
    """Return the job's own Ascend logs; else those in the home folder that are of its processes and its time."""
    own = list(walk(job / "ascend" / "log", "ascend/log"))
    if own:
        return own
    pids = {str(p) for p in request["pids"]}
    found = []
    for name, path in walk(Path.home() / "ascend" / "log", "ascend/log"):
        match = ASCEND.match(path.name)
        if match and match.group(2) in pids and path.stat().st_mtime >= float(request["since"]):
            found.append((name, path))
    return found


def kind(name: str) -> str:
    """Name the sieve of a file."""
    base = name.rsplit("/", 1)[-1]
    if base.startswith("plog"):
        return "run" if "/run/" in name else "debug"
    if base.startswith("device"):
        return "device"
    return "kernel" if name.startswith("os/") else "output"


def system(gaps: List[str], scratch: Path) -> List[Tuple[str, Path]]:
    """Ask the kernel for its log, and name the system's own."""
    folder = Path(os.environ.get("RANKREADY_ROOT", "") + "/var/log")
    found = [(f"os/{n}", folder / n) for n in ("messages", "syslog") if os.access(str(folder / n), os.R_OK)]
    try:
        done = subprocess.run(
            ["dmesg", "-T"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=DMESG_S,
            check=False,
            env=dict(os.environ, LC_ALL="C"),  # months by their English names
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        gaps.append(f"os/dmesg: {error}")
        return found
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()[:200]
        gaps.append(f"os/dmesg: {reason or f'exit {done.returncode}'}")
        return found
    (scratch / "dmesg").write_bytes(done.stdout)
    return [("os/dmesg", scratch / "dmesg"), *found]


def sieve(told: Dict[str, Any]) -> Sieve:
    """Read one sieve; words travel as latin-1 text."""
    parts: Dict[str, Any] = {
        key: tuple(word.encode("latin-1") for word in value) if isinstance(value, list) else value
        for key, value in told.items()
    }
    return Sieve(**parts)


def answer(request: Dict[str, Any], scratch: Path) -> Dict[str, Any]:
    """Select from every file until the limit is reached; error logs come before the bulk of run logs."""
    gaps: List[str] = []
    job = Path.home() / ".rankready" / "jobs" / request["job"]
    sieves = {name: sieve(told) for name, told in request["sieves"].items()}
    logs = sorted(ascend(job, request), key=lambda item: "/run/" in item[0])
    left = int(request["limit"])
    files = []
    for name, path in [*walk(job / "train", "train"), *system(gaps, scratch), *logs]:
        if left <= 0:
            gaps.append(f"{name}: not read, the limit was reached")
            continue
        found = select(path, sieves[kind(name)])
        left -= sum(len(text) + 24 for _, _, text in found.lines)
        files.append({"file": name, "size": found.size, "notes": list(found.notes), "lines": found.lines})
    return {"files": files, "gaps": gaps, "clock": time.time()}


def main() -> int:
    """Read the request, print the answer behind its nonce."""
    size = int(sys.stdin.buffer.readline())
    request = json.loads(sys.stdin.buffer.read(size).decode())
    with tempfile.TemporaryDirectory(prefix="rankready-") as scratch:
        found = answer(request, Path(scratch))
    sys.stdout.write(f"\n{request['nonce']} {json.dumps(found)}\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
