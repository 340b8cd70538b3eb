"""The fast stage of `why`: of a log file the few lines that can mean something, with their numbers (facts/logs 11).

A file is mapped, searched for literals, and only the lines around hits are cut out and decoded. Large files are
searched by ripgrep or grep where they are there: one core reads 4.6 and 1.1 GB/s so, 0.6 GB/s without. What a file
holds is hostile: sizes, counts and line lengths are bounded, and nothing in it can make this raise or run long.

This file is also sent to servers, where Python may be 3.7; it needs the standard library alone.
"""

from __future__ import annotations

import gzip
import json
import mmap
import os
import subprocess
import zlib
from functools import lru_cache
from shutil import which
from threading import Timer
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SMALL = 256 << 10  # a file up to this size is taken whole where its plan says so
EARLY = 4 << 20  # who is who stands in the first part of a process's log
LATE = 4 << 20  # the heartbeat's last accusations stand in the last one
COUNTED = 1 << 20  # lines of a larger file are counted only where that is asked for
HEAD = 16 << 10
TAIL = 64 << 10
LINE = 8192
MOST_HITS = 200_000  # of one literal
FIRST_KEPT = 400
MOST_KEPT = 4000
CONTINUED = 24
TRACE_BEFORE = 4096
TRACE_LINES = 400
SEARCHED = 4 << 20  # in smaller files a program's start costs more than it saves
BROKEN = 1 << 20  # where so much has no line end, grep would gather it all in memory
SEARCH_S = 120.0
PACKED = ".gz"
UNPACKED = 128 << 20  # of one packed file; more is said to be left out
CHILD_ERROR = "error.json"  # what torchrun's child writes of its exception; one line of JSON
MOST_JSON = 4 << 20
MOST_PRINTED = 32 << 20
# what prints `offset:literal` for each hit, whatever bytes stand around it; the first that can is used
PROGRAMS = (
    ("rg", "--no-config", "--no-messages", "--mmap", "-aFob", "-N", "-I", "-E", "none", "--color", "never"),
    ("grep", "-aFobh"),
)


if TYPE_CHECKING:
    Mapped = mmap.mmap | bytes


class Sieve(NamedTuple):
    """What to look for.

    ``anywhere`` in the file; ``early`` and ``late`` in its first and last part, on lines that hold one of ``gates``
    (a pass over the text costs as much for a gate as for a literal, so many literals share one); ``blocks`` are taken
    with what follows. ``ends``: the first and last part are taken whole; ``whole``: a small file is taken whole.
    """

    anywhere: tuple[bytes, ...]
    gates: tuple[bytes, ...] = ()
    early: tuple[bytes, ...] = ()
    late: tuple[bytes, ...] = ()
    blocks: tuple[bytes, ...] = ()
    ends: bool = False
    whole: bool = False


class Selected(NamedTuple):
    """The lines that were cut out, in order, each with its offset and number; the file's size; what was left out.

    The number is 0 in a file that is too large to count all its lines; ``number_at`` finds it for those that matter.
    """

    lines: tuple[tuple[int, int, str], ...] = ()
    size: int = 0
    notes: tuple[str, ...] = ()


def select(path: Path, sieve: Sieve, programs: Sequence[Sequence[str]] | None = None) -> Selected:
    """Cut out of one file what the sieve holds back; ``programs`` search large ones (None: those that are here)."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                return Selected()
            if path.name == CHILD_ERROR:
                file.seek(0)
                return _child_error(file.read(MOST_JSON), size)
            if path.suffix == PACKED:
                return _packed(path, sieve)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                able = size >= SEARCHED and data.find(b"\n", 0, BROKEN) >= 0
                found = _searched(path, sieve.anywhere, _here() if programs is None else programs) if able else None
                return _select(data, size, sieve, found)
    except (OSError, ValueError, EOFError, zlib.error) as error:
        return Selected(notes=(f"not readable: {getattr(error, 'strerror', None) or error}",))


def _packed(path: Path, sieve: Sieve) -> Selected:
    """Select from a log that its rotation packed, in memory; lines are counted as they stand in it."""
    with gzip.open(str(path), "rb") as file:
        data = file.read(UNPACKED)
        more = bool(file.read(1))
    found = _select(data, len(data), sieve, None) if data else Selected()
    return (
        found._replace(notes=(*found.notes, f"more than {UNPACKED >> 20} MB unpacked; the rest was not read"))
        if more
        else found
    )


def _child_error(data: bytes, size: int) -> Selected:
    """Unfold the exception of a child: its moment, then the lines of its traceback, all of the file's first line.

    The file's message is an object of message and extraInfo (py_callstack, timestamp), or a text alone.
    """
    try:
        told = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return Selected(size=size, notes=("holds no JSON, or was cut",))
    outer = told.get("message") if isinstance(told, dict) else None
    inner = outer if isinstance(outer, dict) else {"message": outer}
    extra = inner.get("extraInfo")
    more = extra if isinstance(extra, dict) else {}
    stack, text = more.get("py_callstack"), inner.get("message")
    if not isinstance(stack, str) or not stack.strip():
        stack = f"Traceback (most recent call last):\n{text}" if isinstance(text, str) else ""
    moment = f'"timestamp": "{more["timestamp"]}"\n' if isinstance(more.get("timestamp"), (str, int)) else ""
    plain = f"{moment}{stack}".encode(errors="replace").decode().split("\n")[:MOST_KEPT]
    return Selected(lines=tuple((at, 1, text[:LINE]) for at, text in enumerate(plain)), size=size)


@lru_cache(maxsize=1)
def _here() -> tuple[tuple[str, ...], ...]:
    return tuple(words for words in PROGRAMS if which(words[0]))


def _searched(path: Path, literals: Sequence[bytes], programs: Sequence[Sequence[str]]) -> list[int] | None:
    """Offsets of literals, as the first program finds them that can; None where none can."""
    for words in programs if literals else ():
        out = _printed(path, words, literals)
        heads = [] if out is None else [line.split(b":", 1)[0] for line in out.split(b"\n") if line]
        if out is not None and all(h.isdigit() for h in heads):
            return [int(h) for h in heads]
    return None


def _printed(path: Path, words: Sequence[str], literals: Sequence[bytes]) -> bytes | None:
    """What a program prints, within bounds of size and time; None where it fails or goes beyond them."""
    wanted = [word for literal in literals for word in (b"-e", literal)]
    named = [os.fsencode(w) for w in (*words, "-m", str(MOST_HITS))]
    environment = dict(os.environ, LC_ALL="C")
    try:
        with subprocess.Popen(
            [*named, *wanted, b"--", os.fsencode(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as program:
            late = Timer(SEARCH_S, program.kill)
            late.start()
            out = program.stdout.read(MOST_PRINTED) if program.stdout else b""
            if len(out) == MOST_PRINTED:
                program.kill()  # a line that is nothing but hits
            late.cancel()
    except OSError:
        return None
    return out if program.returncode in (0, 1) else None  # 1: nothing was found


def _select(data: Mapped, size: int, sieve: Sieve, found: list[int] | None) -> Selected:
    if sieve.whole and size <= SMALL:
        spans = [(0, size)]
        notes: list[str] = []
    else:
        wide, notes = _spans(data, size, sieve, found)
        spans = _merged(wide)
    lines = tuple(_lines(data, spans))
    if any("\0" in text for _, _, text in lines):
        notes.append("holds bytes that are no text")
    return Selected(lines=lines, size=size, notes=tuple(notes))


def _spans(data: Mapped, size: int, sieve: Sieve, found: list[int] | None) -> tuple[list[tuple[int, int]], list[str]]:
    hits, notes = _anywhere(data, size, sieve) if found is None else ([h for h in found if h < size], [])
    if found is not None and len(found) >= MOST_HITS:
        notes.append(f"more than {MOST_HITS} lines that may tell something; the rest was not read")
    if size <= EARLY + LATE:
        hits += _gated(data, sieve, (*sieve.early, *sieve.late), (0, size))
    else:
        hits += _gated(data, sieve, sieve.early, (0, EARLY))
        hits += _gated(data, sieve, sieve.late, (size - LATE, size))
    spans = [(start, _continued(data, start, size)) for start in _telling(data, sorted(hits), size)]
    for literal in sieve.blocks:
        blocks, _ = _hits(data, literal, size)
        spans += [
            (_line_start(data, max(0, hit - TRACE_BEFORE)), _after_lines(data, hit, size)) for hit in _few(blocks)
        ]
    if sieve.ends:
        spans += [(0, _line_end(data, min(HEAD, size), size)), (_line_start(data, max(0, size - TAIL)), size)]
    return spans, notes


def _anywhere(data: Mapped, size: int, sieve: Sieve) -> tuple[list[int], list[str]]:
    notes: list[str] = []
    hits: list[int] = []
    for literal in sieve.anywhere:
        new, cut = _hits(data, literal, size)
        hits += new
        if cut:
            notes.append(
                f"more than {MOST_HITS} lines with {literal.decode(errors='replace')!r}; the rest was not read"
            )
    return hits, notes


def _gated(data: Mapped, sieve: Sieve, literals: Sequence[bytes], span: tuple[int, int]) -> Iterator[int]:
    """Offsets on lines of one part that hold a gate and any of the literals."""
    if not literals:
        return
    begin, end = span
    for gate in sieve.gates:
        for at in _hits(data, gate, end, begin)[0]:
            start = _line_start(data, at)
            line = data[start : min(_line_end(data, at, end), start + LINE)]
            if any(literal in line for literal in literals):
                yield at


def _hits(data: Mapped, literal: bytes, end: int, begin: int = 0) -> tuple[list[int], bool]:
    """Offsets of a literal, one a line."""
    found: list[int] = []
    at = data.find(literal, begin, end)
    while at >= 0:
        found.append(at)
        if len(found) >= MOST_HITS:
            return found, True
        after = data.find(b"\n", at, end)
        if after < 0:
            break
        at = data.find(literal, after, end)
    return found, False


def _telling(data: Mapped, hits: Sequence[int], size: int) -> Iterator[int]:
    """Line starts of the first hits, of the last ones, and of every line whose like was not seen yet."""
    starts = list(dict.fromkeys(_line_start(data, hit) for hit in hits))
    if len(starts) <= FIRST_KEPT:
        yield from starts
        return
    seen: set[bytes] = set()
    kept = 0
    for number, start in enumerate(starts):
        key = data[start : min(start + 400, size)].split(b"\n", 1)[0].translate(None, b"0123456789abcdef")
        new = key not in seen
        seen.add(key)
        if number < FIRST_KEPT or number >= len(starts) - 50 or (new and kept < MOST_KEPT):
            kept += 1
            yield start


def _few(hits: Sequence[int]) -> Sequence[int]:
    """The first and the last blocks; a file full of them tells no more."""
    return hits if len(hits) <= 40 else [*hits[:20], *hits[-20:]]  # noqa: PLR2004  (blocks of one file)


def _line_start(data: Mapped, at: int) -> int:
    return data.rfind(b"\n", max(0, at - LINE), at) + 1 or max(0, at - LINE)


def _line_end(data: Mapped, at: int, size: int) -> int:
    end = data.find(b"\n", at)
    return size if end < 0 else end + 1


def _continued(data: Mapped, start: int, size: int) -> int:
    """The end of a record: its line, and the lines after it that have no head of their own."""
    end = _line_end(data, start, size)
    for _ in range(CONTINUED):
        if end >= size or data[end] in b"[|\n":
            return end
        end = _line_end(data, end, size)
    return end


def _after_lines(data: Mapped, at: int, size: int) -> int:
    end = at
    for _ in range(TRACE_LINES):
        end = _line_end(data, end, size)
        if end >= size:
            break
    return min(end, at + (TRACE_LINES * LINE) // 8)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def number_at(path: Path, offset: int) -> int:
    """Return the number of the line that begins at an offset; 0 when the file can't be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return 1 + _newlines(data, 0, min(offset, len(data)))
    except (OSError, ValueError):
        return 0


def _lines(data: Mapped, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    counted = len(data) <= COUNTED or isinstance(data, bytes)  # nobody can count a packed file's lines later
    number, at = 1, 0
    for start, end in spans:
        number += _newlines(data, at, start) if counted else 0
        at = start
        for raw in data[start:end].split(b"\n"):
            if raw:
                yield at, number if counted else 0, raw[:LINE].rstrip(b"\r").decode(errors="replace")
            number += 1
            at += len(raw) + 1
        number -= 1
        at = end


def _newlines(data: Mapped, start: int, end: int) -> int:
    step = 4 << 20
    return sum(data[at : min(at + step, end)].count(b"\n") for at in range(start, end, step))
