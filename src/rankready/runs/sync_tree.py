"""What is to be synced, as a manifest: path, kind, mode, size and content of everything below some local paths."""

from __future__ import annotations

import fnmatch
import gzip
import hashlib
import json
import os
import stat
import tarfile
import time
import zlib
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from rankready.model.errors import ConfigError, Mistake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

ALWAYS_LEFT_OUT = (".rankready", ".rankready-sync", "__pycache__")  # our journal and state; caches of one machine
BLOCK = 1 << 20
SETTLED_S = 2.0  # a file younger than this may still change within one tick of its time stamp: not cached


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One line of a manifest. ``kind``: f, d or l; ``content``: a file's sha256, a link's target."""

    path: str
    kind: str
    mode: int
    size: int
    content: str

    def row(self) -> list[str | int]:
        """Return the entry as it travels."""
        return [self.path, self.kind, self.mode, self.size, self.content]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A manifest with the local files behind it. ``roots``: the top names that it speaks for ("" = everything)."""

    entries: tuple[Entry, ...]
    sources: Mapping[str, Path]
    roots: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256 of the canonical bytes; the servers compute the same."""
        total = hashlib.sha256()
        for entry in self.entries:
            total.update(json.dumps(entry.row(), separators=(",", ":")).encode("ascii") + b"\n")
        return total.hexdigest()

    @property
    def files(self) -> int:
        """How many regular files it holds."""
        return sum(e.kind == "f" for e in self.entries)

    @property
    def size(self) -> int:
        """Bytes of all regular files."""
        return sum(e.size for e in self.entries)


def scan(paths: Sequence[Path], exclude: Sequence[str], cache_file: Path) -> Tree:
    """Read local paths into one tree; raises ConfigError for what can't be synced.

    A file or folder keeps its last name; ``.`` and ``..`` mean what is in the folder. Hashes are kept in
    ``cache_file`` by path, size, times and inode. Sockets, pipes and device files are left out and named.
    """
    cache = _Cache(cache_file)
    walk = _Walk(exclude, cache)
    for path in paths:
        walk.root(path)
    cache.save()
    if walk.mistakes:
        raise ConfigError(tuple(walk.mistakes))
    return Tree(
        entries=tuple(sorted(walk.entries.values())),
        sources=walk.sources,
        roots=tuple(sorted(walk.roots)),
        left_out=tuple(walk.left_out),
    )


class _Walk:
    """One walk over the local paths."""

    def __init__(self, exclude: Sequence[str], cache: _Cache) -> None:
        self.exclude = tuple(p.rstrip("/") for p in exclude)
        self.cache = cache
        self.entries: dict[str, Entry] = {}
        self.sources: dict[str, Path] = {}
        self.roots: dict[str, Path] = {}
        self.left_out: list[str] = []
        self.mistakes: list[Mistake] = []
        self.inside: Path | None = None

    def root(self, path: Path) -> None:
        """Take in one path that the user named."""
        name = "" if path.name in {"", ".."} else path.name
        if not path.exists():
            self._mistake(path, "does not exist", "a file or a folder")
        elif name in self.roots:
            self._mistake(path, f"has the same name as {self.roots[name]}", "different last names")
        elif not name and not path.is_dir():
            self._mistake(path, "is no folder", "a folder")
        else:
            self.roots[name] = path
            # a link that the user names stands for what it points to
            self.inside = path.resolve()
            self._take(self.inside, name)

    def _take(self, full: Path, path: str) -> None:
        """Add what stands at ``full`` as ``path``, and what is below it."""
        try:
            info = full.lstat()
            match stat.S_IFMT(info.st_mode):
                case stat.S_IFDIR:
                    self._folder(full, path, info)
                case stat.S_IFREG:
                    entry = Entry(path, "f", _mode(info), info.st_size, self.cache.hash(full, info))
                    self._add(entry, full)
                case stat.S_IFLNK:
                    self._link(full, path)
                case _:
                    self.left_out.append(path)
        except OSError as error:
            self._mistake(full, error.strerror or str(error), "a readable file")

    def _folder(self, full: Path, path: str, info: os.stat_result) -> None:
        if path:
            self._add(Entry(path, "d", _mode(info), 0, ""), full)
        for child in sorted(full.iterdir()):
            below = f"{path}/{child.name}" if path else child.name
            if not self._excluded(below, child.name):
                self._take(child, below)

    def _link(self, full: Path, path: str) -> None:
        target = os.readlink(full)  # noqa: PTH115  (the text itself, not a Path that forgets a trailing slash)
        floor = 0 if "" in self.roots and self.roots[""].resolve() == self.inside else 1
        if _escapes(path, target, floor) or not full.resolve().is_relative_to(self.inside or full):
            self._mistake(full, f"is a symbolic link to {target}", "a target inside what is synced", "or --exclude it")
            return
        self._add(Entry(path, "l", 0, 0, target), full)

    def _add(self, entry: Entry, full: Path) -> None:
        there = self.sources.get(entry.path)
        if there is not None and there != full and entry.kind != "d":
            self._mistake(full, f"would stand at the same place as {there}", "one file for one place")
        self.entries[entry.path] = entry
        self.sources[entry.path] = full

    def _excluded(self, path: str, name: str) -> bool:
        if name in ALWAYS_LEFT_OUT:
            return True
        return any(fnmatch.fnmatchcase(path if "/" in p else name, p.lstrip("/")) for p in self.exclude)

    def _mistake(self, path: Path, seen: str, expected: str, hint: str = "") -> None:
        self.mistakes.append(Mistake(file=str(path), line=None, path="sync", seen=seen, expected=expected, hint=hint))


def _mode(info: os.stat_result) -> int:
    """Permission bits; set-user-id and its kin do not travel."""
    return stat.S_IMODE(info.st_mode) & 0o777


def _escapes(path: str, target: str, floor: int) -> bool:
    """Tell whether a link's text leads out of its root, which lies ``floor`` folders below the target."""
    if target.startswith("/"):
        return True
    depth = len(PurePosixPath(path).parts) - 1
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < floor:
            return True
    return False


class _Cache:
    """Path → (stamp, sha256) of files that did not change since they were hashed."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.changed = False
        self.now = time.time()
        try:
            self.known: dict[str, list[object]] = json.loads(file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            self.known = {}

    def hash(self, full: Path, info: os.stat_result) -> str:
        """Return a file's sha256."""
        stamp = [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
        old = self.known.get(str(full))
        if old and old[0] == stamp:
            return str(old[1])
        with full.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if self.now - max(info.st_mtime, info.st_ctime) > SETTLED_S:
            self.known[str(full)] = [stamp, digest]
            self.changed = True
        return digest

    def save(self) -> None:
        """Write what was learned; a cache that can't be written costs time only."""
        if not self.changed:
            return
        new = self.file.with_suffix(f".{os.getpid()}")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps(self.known), encoding="ascii")
            new.replace(self.file)
        except OSError:
            new.unlink(missing_ok=True)


def pack(tree: Tree, send: Sequence[str], to: Path) -> int:
    """Write the files ``send`` into one tar at ``to``, members named 0, 1, 2, …; return its size in bytes.

    Compressed when a sample shrinks by a third. A file that changed meanwhile is found out by the server's hash.
    """
    wanted = {e.path: e for e in tree.entries}
    with to.open("wb") as raw:
        if _shrinks(tree, send):
            with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=1, mtime=0, filename="") as packed:
                _fill(packed, tree, [wanted[p] for p in send])
        else:
            _fill(raw, tree, [wanted[p] for p in send])
    return to.stat().st_size


def _fill(out: BinaryIO | gzip.GzipFile, tree: Tree, entries: Sequence[Entry]) -> None:
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT) as tar:
        for number, entry in enumerate(entries):
            member = tarfile.TarInfo(str(number))
            member.size = entry.size
            with tree.sources[entry.path].open("rb") as file:
                member.mtime = int(os.fstat(file.fileno()).st_mtime)
                tar.addfile(member, _Exactly(file, entry.size))


class _Exactly:
    """A file that gives ``left`` bytes whatever happened to it: padded or cut, and so found out by its hash."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self.file = file
        self.left = left

    def read(self, size: int = -1) -> bytes:
        want = self.left if size < 0 else min(size, self.left)
        block = self.file.read(want).ljust(want, b"\0")
        self.left -= want
        return block


def _shrinks(tree: Tree, send: Sequence[str]) -> bool:
    sample = b"".join(_samples(tree, send))
    return len(zlib.compress(sample, 1)) * 3 < len(sample) * 2


def _samples(tree: Tree, send: Sequence[str]) -> Iterator[bytes]:
    """Up to 16 pieces of 64 KiB, spread over the files."""
    for path in list(send)[:: max(1, len(send) // 16)][:16]:
        with tree.sources[path].open("rb") as file:
            yield file.read(BLOCK >> 4)
