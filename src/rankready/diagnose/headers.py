"""The head of an Ascend log line, in all its variants, and lines that two writers glued together (facts/logs 3.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEAD = (
    r"\[(?P<level>ERROR|WARNING|INFO|DEBUG|EVENT)\] ?(?P<module>\w+)\((?P<pid>-?\d+),(?P<name>[^)]*)\): ?"
    r"(?P<moment>\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d\.\d{3}(?:\.?\d{3})?)"
)
_HEADER = re.compile(_HEAD, re.ASCII)
_TAIL_OF_HEADER = re.compile(r" ?(?:\[[^\]]*\])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Level, module, the process that wrote it, the printed moment, and where its content starts."""

    level: str
    module: str
    pid: int
    moment: str
    content: int


def header(text: str) -> Header | None:
    """Read the head of a line; it may stand anywhere in it."""
    match = _HEADER.search(text)
    if match is None:
        return None
    end = _TAIL_OF_HEADER.match(text, match.end())
    return Header(
        level=match["level"],
        module=match["module"],
        pid=int(match["pid"]),
        moment=match["moment"],
        content=end.end() if end else match.end(),
    )


def records(text: str) -> tuple[str, ...]:
    """Split what two writers wrote into one line: one text for each head."""
    starts = [m.start() for m in _HEADER.finditer(text)]
    if len(starts) <= 1:
        return (text,)
    if starts[0] > 0:
        starts.insert(0, 0)
    ends = [*starts[1:], len(text)]
    return tuple(text[a:b] for a, b in zip(starts, ends, strict=True))
