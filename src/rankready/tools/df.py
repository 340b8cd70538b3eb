"""Asks how much room is left where data loaders and logs need it (facts/launch 8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import HomeSpace, SharedMemory
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.command import Reply

F = TypeVar("F", SharedMemory, HomeSpace)

_SHM = "LC_ALL=C df -P -k /dev/shm"
_HOME = 'LC_ALL=C df -P -k "$HOME"'
_HEAD = re.compile(r"Filesystem\s+1(?:024|K)-blocks\s+Used\s+Available\s+(?:Capacity|Use%)\s+Mounted on", re.ASCII)
_ROW = re.compile(r"\S.*?\s+(\d{1,18})\s+\d{1,18}\s+(\d{1,18})\s+(?:\d{1,3}%|-)\s+/\S*", re.ASCII)
_BOTH = 2


def read(reply: Reply, made: type[F]) -> F | Gap:
    """Read the one row below the head; a place that does not exist is UNSUPPORTED."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if "No such file" in reply.stderr:
        return Gap(f"not there: {shown(reply.first_line)}", GapKind.UNSUPPORTED)
    said = lines(reply.stdout)
    row = _ROW.fullmatch(said[1]) if len(said) == _BOTH and _HEAD.fullmatch(said[0]) else None
    if reply.exit != 0 or row is None:
        return unexpected(lines(reply.both))
    return cut(reply.stdout) or made(total_kib=int(row[1]), free_kib=int(row[2]))


def _question(made: type[F], shell: str, words: str) -> Question[object]:
    answer: Callable[[Reply], F | Gap] = lambda reply: read(reply, made)  # noqa: E731  (its type is told)
    return Question(
        fact=made,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=(words,), shell=shell),
        read=lambda reply, _place: answer(reply),
    )


QUESTIONS: tuple[Question[object], ...] = (
    _question(SharedMemory, _SHM, "df -P -k /dev/shm"),
    _question(HomeSpace, _HOME, "df -P -k ~"),
)
