"""Asks which limits a non-interactive shell has: a job inherits them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import Limits
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from rankready.model.command import Reply

_SHELL = r"""printf 'open=%s\n' "$(ulimit -n)"
printf 'locked=%s\n' "$(ulimit -l)"
"""
_ROWS = re.compile(r"open=(\d{1,20}|unlimited)\nlocked=(\d{1,20}|unlimited)", re.ASCII)


def read(reply: Reply) -> Limits | Gap:
    """Read two ``key=value`` lines; open files in number, locked memory in KiB."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0:
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    found = _ROWS.fullmatch("\n".join(said))
    if found is None:
        return unexpected(said)
    return cut(reply.stdout) or Limits(open_files=_number(found[1]), locked_kib=_number(found[2]))


def _number(text: str) -> int | None:
    return None if text == "unlimited" else int(text)


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=Limits,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("ulimit -n; ulimit -l",), shell=_SHELL),
        read=lambda reply, _place: read(reply),
    ),
)
