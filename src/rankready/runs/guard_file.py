"""The guard as one Python file, and the shell lines that run it on a server.

The parts in ``runs/data`` are ordinary modules here; a server gets them as one text, so that the same bytes can be
checked by digest, lie in a job's folder, or be fed to ``python3 -I -S -`` without leaving anything behind.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.model.errors import Unreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JOBS = '"$HOME"/.rankready/jobs'
JOB_ID = re.compile(r"[a-z0-9][a-z0-9-]{3,40}")
PARTS = ("kin", "kills", "link", "reached", "logout", "rank", "guard", "control")
START_LEASE_S = 60.0
LEAST_SILENCE_S = 30.0

_RUN = """
import sys
import types

for name, text in PARTS:
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, name, "exec"), module.__dict__)
sys.exit(sys.modules[name].main(sys.argv[1:]))
"""


@functools.cache
def guard_file() -> bytes:
    """Return the guard's one file."""
    folder = Path(__file__).parent / "data"
    parts = [(f"rankready.runs.data.{p}", (folder / f"{p}.py").read_text(encoding="utf-8")) for p in PARTS]
    listed = "".join(f"    ({name!a}, {text!a}),\n" for name, text in parts)
    return f"PARTS = (\n{listed})\n{_RUN}".encode()


def digest(data: bytes) -> str:
    """Return the sha256 of some bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def folder_of(job: str) -> str:
    """Return a job's folder on a server as a shell word; raises ValueError for what is no job id of ours."""
    if JOB_ID.fullmatch(job) is None:
        message = f"{job!r} is no job id"
        raise ValueError(message)
    return f"{JOBS}/{job}"


def start_script(job: str, spec: Mapping[str, Any], nonce: str) -> bytes:
    """Return the script that makes the job's folder, writes guard and spec, and starts the guard.

    The folder must not be there yet: a job is never started twice. Python is found as ``python3``.
    """
    folder, guard, text = folder_of(job), guard_file(), json.dumps(dict(spec)).encode() + b"\n"
    env = f"env RANKREADY_GUARD={job} RANKREADY_JOB_FOLDER={folder}"
    call = f"exec {env} python3 -I -S {folder}/guard.py start {nonce} {folder} {digest(guard)} {digest(text)}\n"
    body = b"".join(
        (
            f"umask 077\nmkdir -p {JOBS} && mkdir {folder} || exit 17\n".encode(),
            _here(f"{folder}/guard.py", guard, nonce),
            _here(f"{folder}/spec.json", text, nonce),
            call.encode(),
        )
    )
    return b"{\n" + body + b"} </dev/null\n"


def _here(path: str, data: bytes, nonce: str) -> bytes:
    return f"cat >{path} <<'{nonce}'\n".encode() + data + nonce.encode() + b"\n"


def ask_script(nonce: str, mode: str, words: Sequence[str]) -> bytes:
    """Return a script that feeds the guard's file to python3 in a mode that needs no folder of its own.

    ``words`` are shell words of ours: job ids, numbers, ``JOBS``; never anything from a server.
    """
    call = f"python3 -I -S - {mode} {nonce} {' '.join(words)}"
    return b"{\n" + f"{call} <<'{nonce}'\n".encode() + guard_file() + nonce.encode() + b"\n}\n"


def watch_command(job: str, nonce: str, offsets: Mapping[str, int]) -> str:
    """Return the command of a watch; ``offsets`` say how far each log was read already."""
    folder = folder_of(job)
    known = ",".join(f"{name}:{at}" for name, at in offsets.items() if re.fullmatch(r"[\w./-]+", name))
    call = f"exec python3 -I -S {folder}/guard.py watch {nonce} {folder} {known}"
    return f"exec /bin/sh -c '{call.strip()}'"


def read_answer(out: bytes, nonce: str) -> dict[str, Any]:
    """Return the one object that was answered; raises Unreadable when there is none."""
    for line in out.splitlines():
        found = frame(line, nonce)
        if found is not None:
            return found
    raise Unreadable(f"the guard said nothing that we know: {out[-200:].decode(errors='replace')!r}")


def frame(line: bytes, nonce: str) -> dict[str, Any] | None:
    """Read one frame; None for anything else, such as what login files print."""
    head, _, rest = line.partition(b" ")
    if head != nonce.encode():
        return None
    try:
        found = json.loads(rest)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardTimes:
    """Limits that a guard keeps, in seconds; ``log_limit`` in bytes of disk for each log. See facts/transport 11.3.

    ``lease_s`` 0: nobody has to beat. ``start_s``: the job is to stay alone; until it is confirmed that all servers
    run their share, this lease counts instead (0: an attached job). ``lost_s``: how long one guard of a job that stays
    alone may be silent before the others end it.
    """

    lease_s: float = 10.0
    start_s: float = 0.0
    grace_s: float = 10.0
    fail_hold_s: float = 5.0
    log_limit: int = 256 << 20
    lost_s: float = 300.0

    @property
    def silence_s(self) -> float:
        """How long a guard may be silent: as long as nobody may beat, but never so short that a busy server is lost."""
        return max(self.lease_s, LEAST_SILENCE_S) if self.lease_s else self.lost_s
