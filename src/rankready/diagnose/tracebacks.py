"""Python's tracebacks in what a rank printed: where each began, its innermost frame, its exception."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankready.diagnose.event import Line

HEAD = "Traceback (most recent call last):"
MARK = "python traceback: "
_PREFIX = re.compile(r"^(?:\[(?:default\d+|rank\d+|\d+)\]: ?)+")
_FRAME = re.compile(r'^\s+File "([^"]+)", line (\d+)')
_LAST = re.compile(r"^([A-Za-z_][\w.]{0,200})(?:: (.*))?$", re.DOTALL)
_MOST_FRAMES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Traceback:
    """One exception: the line that names it, its type and message, and the innermost ``file:line``."""

    last: Line
    type: str
    message: str
    frame: str

    @property
    def marked(self) -> str:
        """The exception as a line that no other line looks like."""
        return f"{MARK}{self.type}: {self.message}"


def unprefixed(text: str) -> str:
    """Take off what launchers put before a rank's lines (``[rank3]: ``)."""
    return _PREFIX.sub("", text)


def tracebacks(lines: Sequence[Line]) -> Iterator[Traceback]:
    """Yield each traceback that is whole: head, indented frames, then the exception."""
    at = 0
    while at < len(lines):
        if HEAD not in lines[at].text:
            at += 1
            continue
        at, found = _one(lines, at + 1)
        if found is not None:
            yield found


def _one(lines: Sequence[Line], start: int) -> tuple[int, Traceback | None]:
    frame = ""
    for at in range(start, min(len(lines), start + _MOST_FRAMES)):
        text = unprefixed(lines[at].text)
        if match := _FRAME.match(text):
            frame = f"{match[1]}:{match[2]}"
        if text.startswith((" ", "\t")) or not text.strip():
            continue
        match = _LAST.match(text)
        if match is None or HEAD in text:
            return at, None
        found = Traceback(last=replace(lines[at], text=text), type=match[1], message=match[2] or "", frame=frame)
        return at + 1, found
    return len(lines), None
