"""What was read: lines with their places, and what they tell about whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.kind.signature import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.kind.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a file; numbers count from 1, and 0 is one that was not counted. Offsets are in bytes."""

    file: str
    number: int
    text: str
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The lines of one file that were selected, and what its name and place tell.

    ``local`` is a rank within its server. ``stamp`` are the digits in an Ascend log's name. ``first`` is the file's
    first line that has a moment; ``size`` in bytes. ``notes`` say what was left out of it.
    """

    file: str
    host: str
    stream: Stream
    lines: tuple[Line, ...] = ()
    pid: int | None = None
    rank: int | None = None
    local: int | None = None
    device: int | None = None
    stamp: str = ""
    first: str = ""
    size: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line that means something. ``at``: seconds of the true clock, None where the line has no moment.

    ``device`` is the physical id. ``fields`` are what the line itself tells, by the signature's names.
    """

    signature: Signature
    line: Line
    host: str
    stream: Stream = Stream.HOST
    rank: int | None = None
    pid: int | None = None
    device: int | None = None
    at: float | None = None
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The signature's kind."""
        return self.signature.kind

    def number(self, name: str) -> int | None:
        """Return a field as a number, None where it is none."""
        text = self.fields.get(name) or ""
        return int(text) if text.isascii() and text.isdecimal() else None
