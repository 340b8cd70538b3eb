"""Asks which variables of a job's concern a non-interactive shell has already, from files that nobody remembers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import JobEnvironment
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from rankready.model.command import Reply

_NAMES = (
    r"HCCL_[A-Z0-9_]*|ASCEND_RT_VISIBLE_DEVICES|ASCEND_GLOBAL_LOG_LEVEL|RANK_TABLE_FILE|CM_[A-Z_]*|MASTER_ADDR|"
    r"MASTER_PORT|GLOO_SOCKET_IFNAME|TP_SOCKET_IFNAME|TASK_QUEUE_ENABLE"
)
_SHELL = f"""env | grep -E '^({_NAMES})='
echo end
"""
_ROW = re.compile(rf"({_NAMES})=(.*)", re.ASCII)


def read(reply: Reply) -> JobEnvironment | Gap:
    """Read ``NAME=value`` lines and the closing word; none at all is the usual answer."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0 or reply.stderr.strip():
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    rows = [m for line in said[:-1] if (m := _ROW.fullmatch(line))]
    if said[-1:] != ("end",) or len(rows) != len(said) - 1:
        return unexpected(said)
    return JobEnvironment(values={m[1]: m[2] for m in rows})


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=JobEnvironment,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("env",), shell=_SHELL),
        read=lambda reply, _place: read(reply),
    ),
)
