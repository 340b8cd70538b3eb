"""The fast stage of `why`: of a log file the few lines that can mean something, with their numbers (facts/logs 11).

A file is mapped, searched for literals, and only the lines around hits are cut out and decoded. What a file holds is
hostile: sizes, counts and line lengths are bounded, and nothing in it can make this raise or run long.

This file is also sent to servers, where Python may be 3.7; it needs the standard library alone.
"""

from __future__ import annotations

import mmap
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


def select(path: Path, sieve: Sieve) -> Selected:
    """Cut out of one file what the sieve holds back."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                return Selected()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _select(data, size, sieve)
    except (OSError, ValueError) as error:
        return Selected(notes=(f"not readable: {error}",))


def _select(data: mmap.mmap, size: int, sieve: Sieve) -> Selected:
    if sieve.whole and size <= SMALL:
        spans = [(0, size)]
        notes: list[str] = []
    else:
        found, notes = _spans(data, size, sieve)
        spans = _merged(found)
    lines = tuple(_lines(data, spans))
    if any("\0" in text for _, _, text in lines):
        notes.append("holds bytes that are no text")
    return Selected(lines=lines, size=size, notes=tuple(notes))


def _spans(data: mmap.mmap, size: int, sieve: Sieve) -> tuple[list[tuple[int, int]], list[str]]:
    notes: list[str] = []
    hits: list[int] = []
    for literal in sieve.anywhere:
        new, cut = _hits(data, literal, size)
        hits += new
        if cut:
            notes.append(
                f"more than {MOST_HITS} lines with {literal.decode(errors='replace')!r}; the rest was not read"
            )
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


def _gated(data: mmap.mmap, sieve: Sieve, literals: Sequence[bytes], span: tuple[int, int]) -> Iterator[int]:
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


def _hits(data: mmap.mmap, literal: bytes, end: int, begin: int = 0) -> tuple[list[int], bool]:
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


def _telling(data: mmap.mmap, hits: Sequence[int], size: int) -> Iterator[int]:
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


def _line_start(data: mmap.mmap, at: int) -> int:
    return data.rfind(b"\n", max(0, at - LINE), at) + 1 or max(0, at - LINE)


def _line_end(data: mmap.mmap, at: int, size: int) -> int:
    end = data.find(b"\n", at)
    return size if end < 0 else end + 1


def _continued(data: mmap.mmap, start: int, size: int) -> int:
    """The end of a record: its line, and the lines after it that have no head of their own."""
    end = _line_end(data, start, size)
    for _ in range(CONTINUED):
        if end >= size or data[end] in b"[|\n":
            return end
        end = _line_end(data, end, size)
    return end


def _after_lines(data: mmap.mmap, at: int, size: int) -> int:
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


def _lines(data: mmap.mmap, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    counted = len(data) <= COUNTED
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


def _newlines(data: mmap.mmap, start: int, end: int) -> int:
    step = 4 << 20
    return sum(data[at : min(at + step, end)].count(b"\n") for at in range(start, end, step))
