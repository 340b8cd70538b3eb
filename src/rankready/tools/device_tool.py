"""Asks whether a job's shell finds the tool of the devices' network (facts/hccn 1, 2.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import DeviceTool
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from rankready.model.command import Reply

# the driver's own place of it is not on every PATH: a link in /usr/bin leads there, and a container may lack it
_SHELL = r"""p=$(command -v hccn_tool 2>/dev/null)
[ -n "$p" ] && { printf 'path=%s\n' "$p"; exit 0; }
f="${RANKREADY_ROOT:-}/usr/local/Ascend/driver/tools/hccn_tool"
[ -x "$f" ] && { printf 'file=%s\n' "$f"; exit 0; }
echo none
"""
_ROW = re.compile(r"(path|file)=(/[^\0]{0,400}hccn_tool)")


def read(reply: Reply) -> DeviceTool | Gap:
    """Read the one line."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0:
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    if said == ("none",):
        return DeviceTool(path="", on_path=False)
    found = _ROW.fullmatch(said[0]) if len(said) == 1 else None
    return DeviceTool(path=found[2], on_path=found[1] == "path") if found else unexpected(said)


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=DeviceTool,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("command -v hccn_tool",), shell=_SHELL),
        read=lambda reply, _place: read(reply),
    ),
)
