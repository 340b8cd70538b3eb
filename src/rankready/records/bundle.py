"""What a bug report needs, in one archive: records, job notes, cluster.yaml and versions, without secrets."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import stat
import tarfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankready.records._cluster_text import compose, without_secrets
from rankready.records._masks import Masks, names_of
from rankready.records._secrets import clean, scrub

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

TOP = "rankready-bundle"
LIMIT = 32 << 20  # bytes of files before compression
_ONE = 16 << 20
_JOBS = 5  # newest ones
_JOB_NOTES = ("job.json", "result.json", "spec.json", "collect.json")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")  # no name of ours has anything else in it
_LISTED = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to gather: ``home`` is `.rankready/`, ``file`` the cluster.yaml; either may be missing.

    ``versions`` go in as they are. ``names``: (kind, name) pairs to replace when ``anonymise`` is set, beside those
    that cluster.yaml holds. ``limit``: bytes before compression; what does not fit is listed as omitted.
    """

    home: Path
    file: Path
    versions: Mapping[str, str]
    at: str
    anonymise: bool = False
    names: tuple[tuple[str, str], ...] = ()
    limit: int = LIMIT


@dataclass(slots=True)
class Gathered:
    """Files by name in the archive, and what was left out with the reason."""

    files: dict[str, bytes] = field(default_factory=dict)
    omitted: list[dict[str, Any]] = field(default_factory=list)
    left: int = LIMIT

    def add(self, name: str, data: bytes) -> None:
        """Take a file, or list it as omitted when it does not fit."""
        if len(data) > self.left:
            self.omit(name, len(data), "larger than what is left of the limit")
            return
        self.left -= len(data)
        self.files[name] = data

    def omit(self, name: str, size: int, reason: str) -> None:
        """Say that something is not in here."""
        self.omitted.append({"name": name, "size": size, "reason": reason})


def gather(asked: Asked) -> Gathered:
    """Read, clean and choose; nothing outside of ``home`` and ``file`` is read, and no link is followed.

    What tells most comes first: versions, cluster.yaml, job notes, then records, the newest first.
    """
    found = Gathered(left=asked.limit)
    text = _cluster_text(asked)
    root = None if text is None else compose(text)
    masks = Masks((*names_of(root), *asked.names)) if asked.anonymise else None

    def shown(words: str) -> str:
        return words if masks is None else masks.text(words)

    found.add("versions.json", _json(dict(asked.versions)))
    if text is not None:
        if masks is not None and root is None:
            found.omit("cluster.yaml", len(text), "no YAML: its names could not be replaced")
        else:
            found.add("cluster.yaml", shown(without_secrets(text)).encode())
    for name, path in (*_job_notes(asked.home), *_kept(asked.home)):
        _take(found, (name, path), shown)
    found.add("listing.json", shown(_json(list(_listing(asked.home))).decode()).encode())
    return found


def pack(found: Gathered, asked: Asked) -> bytes:
    """Return the tar.gz: a manifest with sizes and digests first, the rest by name; the same input, the same bytes."""
    listed = [
        {"name": n, "size": len(d), "sha256": hashlib.sha256(d).hexdigest()} for n, d in sorted(found.files.items())
    ]
    about = {"version": 1, "at": asked.at, "anonymised": asked.anonymise, "limit": asked.limit}
    manifest = _json({**about, "files": listed, "omitted": found.omitted})
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in (("manifest.json", manifest), *sorted(found.files.items())):
            entry = tarfile.TarInfo(f"{TOP}/{name}")
            entry.size, entry.mode = len(data), 0o600
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)


def write(path: Path, data: bytes) -> None:
    """Write the archive whole or not at all, readable by its owner alone; raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _cluster_text(asked: Asked) -> str | None:
    data = _read(asked.file)
    return data.decode(errors="replace") if isinstance(data, bytes) else None


def _take(found: Gathered, item: tuple[str, Path], shown: Any) -> None:  # noqa: ANN401  (a function of texts)
    name, path = item
    data = _read(path)
    if isinstance(data, str):
        found.omit(name, 0, data)
        return
    text = data.decode(errors="replace")
    try:
        whole = _json(clean(json.loads(text))).decode()
    except (ValueError, RecursionError):
        whole = scrub(text)  # a record that is cut or was written by another version still tells something
    found.add(name, shown(whole).encode(errors="replace"))


def _read(path: Path) -> bytes | str:
    """Return a file's bytes, or why it is not taken: only plain files, never through a link, never beyond a limit."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        return "a link" if path.is_symlink() else (error.strerror or "unreadable").lower()
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            return "no plain file"
        if about.st_size > _ONE:
            return f"more than {_ONE >> 20} MiB"
        return file.read(_ONE)


def _job_notes(home: Path) -> Iterator[tuple[str, Path]]:
    jobs = [p for p in _entries(home / "jobs") if p.is_dir() and not p.is_symlink()]
    for job in reversed(jobs[-_JOBS:]):
        for name in _JOB_NOTES:
            if os.path.lexists(job / name):
                yield f"jobs/{job.name}/{name}", job / name


def _kept(home: Path) -> Iterator[tuple[str, Path]]:
    """Yield records, the newest first, then raw replies where a run kept them."""
    for path in reversed(_entries(home / "records")):
        yield f"records/{path.name}", path
    raw = home / "raw"
    if raw.is_dir() and not raw.is_symlink():
        for path in _entries(raw):
            yield f"raw/{path.name}", path


def _entries(folder: Path) -> list[Path]:
    """Return what lies in a folder of ours by plain names, oldest first as names sort by time."""
    if not folder.is_dir() or folder.is_symlink():
        return []
    return sorted(p for p in folder.iterdir() if _PLAIN.fullmatch(p.name))


def _listing(home: Path) -> Iterator[dict[str, Any]]:
    """Name every file below home with its size; journals and logs are named here, their words stay where they are."""
    count = 0
    for folder, names, files in os.walk(home):
        names.sort()
        for name in sorted(files):
            count += 1
            if count > _LISTED:
                return
            path = os.path.join(folder, name)  # noqa: PTH118  (os.walk's own words)
            yield {"name": os.path.relpath(path, home), "size": os.lstat(path).st_size}


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode(errors="replace")


def digests(found: Gathered) -> Iterable[dict[str, Any]]:
    """Return name and size of what is in the archive, in its order."""
    return [{"name": n, "size": len(d)} for n, d in sorted(found.files.items())]
