"""How much memory a server has: a control group of the kernel's, whose kills are real and stand in the kernel's log."""

from __future__ import annotations

import os
import re
import select
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankready.lab import sweep

MOUNTS = Path("/proc/self/mountinfo")
KERNEL_LOG = Path("/dev/kmsg")
_GONE_S = 5.0
_LOOK_S = 0.05
# the kernel names the group in the first of the two lines, and the process in both (facts/logs 2.4)
_CHOSEN = re.compile(r"^oom-kill:.*task_memcg=(?P<group>[^,]+),.*pid=(?P<pid>\d+)")
_KILLED = re.compile(r"^Memory cgroup out of memory: Killed process (?P<pid>\d+) ")


@dataclass(slots=True, kw_only=True)
class Memory:
    """The limits of one lab's servers. ``lab`` makes the groups' names its own; ``state`` holds each server's folder.

    The kernel's log numbers processes as the machine does, not as the server: so it is for every job in a container.
    """

    lab: str
    state: Path
    _limits: dict[str, int] = field(default_factory=dict)
    _groups: dict[str, Path] = field(default_factory=dict)
    _listening: bool = False

    def limit_mb(self, server: str) -> int | None:
        """Return the server's limit in MiB; None: none."""
        return self._limits.get(server)

    def words(self, server: str, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Return a command as it starts within the server's limit."""
        if server not in self._groups:
            return argv
        join = 'echo $$ >"$0" && exec "$@"'
        return ("/bin/sh", "-c", join, str(self._groups[server] / "cgroup.procs"), *argv)

    def limit(self, server: str, megabytes: int, processes: Iterable[sweep.Process]) -> None:
        """Give a server this much memory and no more. Raises LabError where the kernel can't be asked for it."""
        group = self._groups.get(server)
        try:
            if group is None:
                self._listen()
                group = _home(os.getpid()) / f"rankready-{self.lab}-{server}"
                group.mkdir()
                self._groups[server] = group
            _set_limit(group, megabytes << 20)
            self._limits[server] = megabytes
        except OSError as error:
            raise LabError(
                f"{server}: the kernel limits no memory here: {error}", zh=f"{server}：内核在此处无法限制内存：{error}"
            ) from error
        self.join(server, processes)

    def join(self, server: str, processes: Iterable[sweep.Process]) -> None:
        """Put processes under the server's limit, if there is one."""
        if server in self._groups:
            _move(self._groups[server], processes)

    def lift(self, server: str, processes: Iterable[sweep.Process]) -> None:
        """Take the limit away. Raises LabError where its group can't be removed."""
        group = self._groups.pop(server, None)
        self._limits.pop(server, None)
        if group is not None:
            _move(group.parent, processes)
            _remove(group)

    def _listen(self) -> None:
        """Bring the kernel's words about a server to that server's own log, from now on."""
        if self._listening:
            return
        self._listening = True
        try:
            log = os.open(KERNEL_LOG, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return  # some machines show their log to nobody; then no server's log tells of a kill either
        os.lseek(log, 0, os.SEEK_END)
        threading.Thread(target=self._relay, args=(log,), daemon=True).start()

    def _relay(self, log: int) -> None:
        chosen: dict[str, str] = {}
        while True:
            select.select([log], [], [])
            try:
                record = os.read(log, 8192).decode(errors="replace")
            except OSError:
                continue  # a record was overwritten before it was read: the next read goes on behind it
            text = record.partition(";")[2].partition("\n")[0]
            self._hear(text, chosen)

    def _hear(self, text: str, chosen: dict[str, str]) -> None:
        if first := _CHOSEN.match(text):
            names = {str(group.name): server for server, group in self._groups.items()}
            server = names.get(first["group"].rpartition("/")[2])
            if server is not None:
                chosen[first["pid"]] = server
                self._write(server, text)
        elif (second := _KILLED.match(text)) and second["pid"] in chosen:
            self._write(chosen.pop(second["pid"]), text)

    def _write(self, server: str, text: str) -> None:
        with suppress(OSError), (self.state / server / "lab/dmesg").open("a") as file:
            file.write(f"{int(time.time())} {text}\n")


def groups(lab: str, pid: int) -> tuple[Path, ...]:
    """Find a lab's groups, which outlive it; ``pid``: a process in whose home they were made."""
    try:
        return tuple(_home(pid).glob(f"rankready-{lab}-*"))
    except (LabError, OSError):
        return ()


def remove(groups: Iterable[Path]) -> None:
    """Remove groups whose processes have ended. Raises LabError."""
    for group in groups:
        _remove(group)


def _home(pid: int) -> Path:
    """Find the folder below which a process may make groups that limit memory. Raises LabError where there is none."""
    with suppress(OSError):
        paths = dict(_group_paths(Path(f"/proc/{pid}/cgroup").read_text()))
        for kind, root, point in _mounts():
            path = paths.get(kind)
            if path is None:
                continue
            home = point / path.removeprefix(root if root != "/" else "").lstrip("/")
            if kind == "memory" and home.is_dir():
                return home
            if kind == "" and (found := _delegating(home, point)) is not None:
                return found
    raise LabError("no control group of this machine limits memory", zh="本机没有可限制内存的 cgroup")


def _group_paths(text: str) -> Iterator[tuple[str, str]]:
    """Read ``4:memory:/path`` and ``0::/path``."""
    for line in text.splitlines():
        number, kinds, path = line.split(":", 2)
        if "memory" in kinds.split(","):
            yield "memory", path
        elif number == "0":
            yield "", path


def _mounts() -> Iterator[tuple[str, str, Path]]:
    """Yield kind (``memory``: of its own; empty: the unified hierarchy), root and mount point."""
    for line in MOUNTS.read_text().splitlines():
        fields, _, rest = line.partition(" - ")
        system, _, options = rest.partition(" ")
        root, point = fields.split()[3:5]
        if system == "cgroup" and "memory" in options.rpartition(" ")[2].split(","):
            yield "memory", root, Path(point)
        elif system == "cgroup2":
            yield "", root, Path(point)


def _delegating(home: Path, point: Path) -> Path | None:
    """Return the nearest folder upwards whose children are limited: one with processes has none (unified hierarchy)."""
    for folder in (home, *home.parents):
        with suppress(OSError):
            if "memory" in (folder / "cgroup.subtree_control").read_text().split():
                return folder
        if folder == point:
            return None
    return None


def _set_limit(group: Path, size: int) -> None:
    if (group / "memory.max").exists():
        (group / "memory.max").write_text(str(size))
        _if_there(group / "memory.swap.max", 0)
        return
    (group / "memory.limit_in_bytes").write_text(str(size))
    _if_there(group / "memory.memsw.limit_in_bytes", size)


def _if_there(file: Path, size: int) -> None:
    """Without swap the kernel offers no limit of it."""
    if file.exists():
        file.write_text(str(size))


def _move(group: Path, processes: Iterable[sweep.Process]) -> None:
    for process in processes:
        with suppress(OSError):  # it ended meanwhile
            (group / "cgroup.procs").write_text(str(process.pid))


def _remove(group: Path) -> None:
    """A group goes once its last process is reaped."""
    limit = time.monotonic() + _GONE_S
    while True:
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError as error:
            if time.monotonic() > limit:
                raise LabError(f"{group.name}: {error.strerror}") from error
            time.sleep(_LOOK_S)
        else:
            return
