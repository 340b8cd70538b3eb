"""Unpack what a server sent: regular files only, inside one folder, within bounds. The archive is hostile."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import tarfile
import zlib
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LAST = "gaps.json"
MANY = 50_000
DEEP = 16
LAST_BYTES = 4 << 20
_PART = re.compile(r"[A-Za-z0-9_@+:=,~-][A-Za-z0-9_.@+:=,~ -]{0,200}")
_PIECE = 1 << 20


@dataclass(slots=True, kw_only=True)
class Unpacked:
    """What came out: files and bytes, what was refused and why, and the archive's own last words."""

    files: int = 0
    size: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    last: dict[str, Any] | None = None


def unpack(archive: Path, into: Path, *, limit: int) -> Unpacked:
    """Write every regular file of a tar (plain, gz, bz2 or xz) below ``into``; never raises for what the archive holds.

    Absolute names, ``..``, odd characters, links, devices, and whatever goes beyond ``limit`` bytes are refused.
    """
    done = Unpacked()
    try:
        with tarfile.open(archive, "r|*") as tar:
            for number, member in enumerate(tar):
                if number >= MANY:
                    done.refused.append(("the rest", f"more than {MANY} files"))
                    break
                _take(tar, member, into, (done, limit))
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        done.refused.append(("the rest", f"the stream broke off: {error}"))
    return done


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, into: Path, tally: tuple[Unpacked, int]) -> None:
    done, limit = tally
    name = member.name.removeprefix("./")  # as `tar -cf X .` writes them
    if member.isdir():
        return
    if reason := _refusal(member, name):
        done.refused.append((name[:200], reason))
        return
    source = tar.extractfile(member)
    if source is None:
        return
    if name == LAST:
        if member.size <= LAST_BYTES:
            found = json.loads(source.read(LAST_BYTES))
            done.last = found if isinstance(found, dict) else None
        return
    if done.size + member.size > limit:
        done.refused.append((name, f"beyond the limit of {limit} bytes"))
        return
    _write(source, into / name, member.mtime)
    done.files += 1
    done.size += member.size


def _refusal(member: tarfile.TarInfo, name: str) -> str:
    parts = name.split("/")
    if not member.isreg():
        return "no regular file"
    if len(parts) > DEEP or any(_PART.fullmatch(p) is None for p in parts):
        return "a name that is not taken"
    return ""


def _write(source: IO[bytes], path: Path, changed: float) -> None:
    """Write one file, whole or not at all; its time of change is the original's, so that it is known again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name[:200]}.part")
    part.unlink(missing_ok=True)  # a link that stands there is not followed
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            while piece := source.read(_PIECE):
                file.write(piece)
        os.utime(part, (changed, changed))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
