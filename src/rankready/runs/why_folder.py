"""Which file of a collected folder is what, by place and name, in our layout and the vendor's (facts/logs 2, 10.1)."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.kind.signature import Stream
from rankready.runs.why_select import PACKED

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEP = 12
MANY = 200_000
JSON_LIMIT = 64 << 20
_ASCEND = re.compile(r"(?:plog|device)-(\d{1,10})_(\d{17})\.log(?:\.\d+)?")
_RANK = re.compile(r"rank[-_](\d{1,7})\.(?:log|txt)(?:\.\d+)?|worker[-_](\d{1,7})\.(?:log|txt)(?:\.\d+)?")
_RANK_FOLDER = re.compile(r"(?:^|/)rank_(\d{1,7})/[^/]+\.log$")
_ATTEMPT = re.compile(r"(?:^|/)attempt_\d+/(\d{1,4})/(?:(?:stdout|stderr)\.log|error\.json)$")
_LAUNCHER = re.compile(r"(?:launcher|scheduler|torchrun|mindie|train)\w*\.(?:log|txt)")
_KERNEL = re.compile(r"(?:dmesg|messages|syslog|kern)(?:[-_.]\w+)*|host_kernel\.log|vmcore[-_]dmesg\.txt")
_DEVICE = re.compile(r"(?:^|/)(?:device_log|slog|hisi_logs|bbox|mntn)/")
_HISTORY = re.compile(r"(?:^|/)hisi_logs/device-(\d{1,3})/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file: where it lies, its name as shown, and what its name tells. ``local``: a rank within its server."""

    path: Path
    file: str
    host: str
    stream: Stream
    pid: int | None = None
    rank: int | None = None
    local: int | None = None
    device: int | None = None
    stamp: str = ""


def sources(folder: Path) -> tuple[Source, ...]:
    """List every file of a bundle that we can read, in the order of names. One folder a server."""
    return tuple(
        source
        for host in hosts(folder)
        for path in _files(folder / host)
        if (source := source_of(folder, host, path)) is not None
    )


def hosts(folder: Path) -> tuple[str, ...]:
    """The servers' folders."""
    try:
        return tuple(sorted(e.name for e in os.scandir(folder) if e.is_dir() and not e.name.startswith(".")))
    except OSError:
        return ()


def others(folder: Path) -> tuple[tuple[str, Path], ...]:
    """The files of checks and of servers' own state: (host, path)."""
    return tuple(
        (host, path)
        for host in hosts(folder)
        for part in ("environment_check", "meta")
        for path in _files(folder / host / part)
    )


def read_json(path: Path) -> Any:  # noqa: ANN401  (somebody's file)
    """Read a JSON file; None when it is missing, too large, or none."""
    try:
        if path.stat().st_size > JSON_LIMIT:
            return None
        return json.loads(path.read_bytes().decode(errors="replace"))
    except (OSError, ValueError, RecursionError):
        return None


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for here, folders, files in os.walk(folder):
        folders.sort()
        if len(Path(here).relative_to(folder).parts) >= DEEP:
            folders.clear()
        for name in sorted(files):
            path = Path(here) / name
            if os.path.isfile(path) and not name.startswith("."):  # noqa: PTH113  (raises nothing, whatever the rights)
                yield path
                count += 1
                if count >= MANY:
                    return


def source_of(folder: Path, host: str, path: Path) -> Source | None:
    """Say what one file is; None for what we can't read."""
    inside = path.relative_to(folder / host).as_posix()
    file = f"{host}/{inside}"
    name = path.name.removesuffix(PACKED)
    if match := _ASCEND.fullmatch(name):
        return Source(path=path, file=file, host=host, stream=Stream.HOST, pid=int(match[1]), stamp=match[2])
    if _DEVICE.search(inside):
        found = _HISTORY.search(inside)
        return Source(path=path, file=file, host=host, stream=Stream.DEVICE, device=int(found[1]) if found else None)
    return _output(path, file, host, inside.removesuffix(PACKED))


def _output(path: Path, file: str, host: str, inside: str) -> Source | None:
    name = inside.rpartition("/")[2]
    if match := _RANK.fullmatch(name):
        return Source(path=path, file=file, host=host, stream=Stream.OUTPUT, rank=int(match[1] or match[2]))
    if match := _RANK_FOLDER.search(inside):
        return Source(path=path, file=file, host=host, stream=Stream.OUTPUT, rank=int(match[1]))
    if match := _ATTEMPT.search(inside):
        return Source(path=path, file=file, host=host, stream=Stream.OUTPUT, local=int(match[1]))
    if _LAUNCHER.fullmatch(name):
        return Source(path=path, file=file, host=host, stream=Stream.LAUNCHER)
    if _KERNEL.fullmatch(name):
        return Source(path=path, file=file, host=host, stream=Stream.KERNEL)
    return None
