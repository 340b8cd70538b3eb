"""One operator at a time: a lock file beside the records that tells the second who holds it, from where, since when."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.model.errors import Locked
from rankready.model.text import Text, visible
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_WORD = 80
UNNAMED = Text(
    en="someone else is changing this cluster (the lock does not say who)", zh="有人正在修改本集群（锁文件未写明是谁）"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who holds a lock. ``started`` and ``boot`` tell a process from a later one of the same number.

    ``home``: where that run's own records and lock lie on its machine.
    """

    verb: str
    user: str
    host: str
    pid: int
    since: str
    started: str = ""
    boot: str = ""
    home: str = ""

    def line(self) -> str:
        """Write it as one line of JSON."""
        return json.dumps(asdict(self))

    def words(self) -> Text:
        """Say who it is; the words come from a file that another machine may have written, and are shown as such."""
        user, host, verb, since = (visible(w[:_WORD]) for w in (self.user, self.host, self.verb, self.since))
        return Text(
            en=f"{user} on {host} (process {self.pid}) is changing this cluster with {verb} since {since}",
            zh=f"{user} 自 {since} 起在 {host} 上（进程 {self.pid}）正用 {verb} 修改本集群",
        )

    def gone(self, home: Path) -> bool:
        """Tell whether the holder is known to have ended: a process of this machine that no longer runs.

        Whoever asks holds the lock of ``home``; so another run from there can't be alive either.
        """
        if self.host != socket.gethostname():
            return False
        if self.home == str(home.absolute()):
            return True
        if self.boot and self.boot != _boot():
            return True
        started = _started(self.pid)
        return started is None or (bool(self.started) and started != self.started)


def me(verb: str, home: Path) -> Owner:
    """Name this process."""
    pid = os.getpid()
    return Owner(
        verb=verb,
        user=getpass.getuser(),
        host=socket.gethostname(),
        pid=pid,
        since=now_utc(),
        started=_started(pid) or "",
        boot=_boot(),
        home=str(home.absolute()),
    )


def owner(words: str) -> Owner | None:
    """Read what ``line`` wrote; None for anything else."""
    try:
        found = json.loads(words)
        pid = int(found.pop("pid"))
        return Owner(pid=pid, **{key: str(value) for key, value in found.items()})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


@contextlib.contextmanager
def held(home: Path, verb: str) -> Iterator[None]:
    """Hold the cluster's lock on this machine; raises Locked naming the holder.

    The kernel frees it when the holder dies, so there is no stale lock here.
    """
    home.mkdir(parents=True, exist_ok=True)
    handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(_holder(home / "lock", os.read(handle, 4096))) from None
        os.ftruncate(handle, 0)
        os.write(handle, me(verb, home).line().encode())
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _holder(path: Path, words: bytes) -> str:
    who = owner(words.decode(errors="replace"))
    told = UNNAMED if who is None else who.words()
    return f"{path}: {told.en}\n{path}：{told.zh}"


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Return when a process started, in the kernel's ticks since boot; None where there is no such process."""
    if not Path("/proc/self/stat").exists():
        return _answers(pid)
    try:
        words = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    after_name = words.rpartition(")")[2].split()
    # a zombie holds nothing: its descriptors are closed, only its parent has not looked yet
    return None if after_name[0] in "ZX" else after_name[19]


def _answers(pid: int) -> str | None:
    """Where there is no /proc: whether the number is in use at all."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return ""
    return ""
