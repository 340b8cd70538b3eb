"""Reads which driver a server has, from the file that its package leaves (facts/hccn 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.chips import DriverVersion
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.command import Reply

TOOL = "version.info"

_FILE = "/usr/local/Ascend/driver/version.info"
_SHELL = f'cat "${{RANKREADY_ROOT:-}}{_FILE}"'
_KEY = re.compile(r"([A-Za-z_]\w*)=(\S*)\s*", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)


def read_version(reply: Reply) -> DriverVersion | Gap:
    """Read `Version=…` among whatever other keys the file holds; no file is UNSET."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0 or reply.stderr.strip():
        kind = GapKind.UNSET if "No such file" in reply.stderr else GapKind.UNKNOWN
        return Gap(f"{_FILE} was not read: {shown(reply.first_line)}", kind)
    said = lines(reply.stdout)
    rows = [m for line in said if (m := _KEY.fullmatch(line))]
    found = [m[2] for m in rows if m[1] == "Version"]
    if len(rows) != len(said) or len(found) != 1 or not _VERSION.fullmatch(found[0]):
        return unexpected(said)
    return cut(reply.stdout) or DriverVersion(version=found[0])


def reader(_arguments: tuple[str, ...]) -> Callable[[Reply], object]:
    """Return how to read the file."""
    return read_version


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=DriverVersion,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("cat", _FILE), shell=_SHELL),
        read=lambda reply, _place: read_version(reply),
    ),
)
