"""Asks python3 for its version and for the frameworks installed for it, without loading any of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.job_host import Frameworks
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from rankready.model.command import Reply

# find_spec looks for the folder alone: importing torch would take seconds on every look
_CODE = r"""
import sys
try:
    from importlib.metadata import version
    from importlib.util import find_spec
except ImportError:
    version = find_spec = None
print("python=%d.%d.%d" % sys.version_info[:3])
for name, package in (("torch", "torch"), ("torch_npu", "torch-npu"), ("mindspore", "mindspore")):
    told = ""
    try:
        if find_spec and find_spec(name):
            told = "unknown"
            told = version(package)
    except (ImportError, ValueError):  # there, but of no known version
        pass
    print("%s=%s" % (name, told))
"""
_SHELL = f"exec python3 -c '{_CODE}'"
_ROW = re.compile(r"(\w+)=([\w.+-]{0,64})", re.ASCII)
_KEYS = ("python", "torch", "torch_npu", "mindspore")


def read(reply: Reply) -> Frameworks | Gap:
    """Read four ``name=version`` lines; no python3 is UNSUPPORTED."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit == 127:  # noqa: PLR2004  (the shell found no such program)
        return Gap("no python3 on the server", GapKind.UNSUPPORTED)
    if reply.exit != 0:
        return Gap(f"{reply.command}: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    rows = [(m[1], m[2]) for line in said if (m := _ROW.fullmatch(line))]
    if tuple(key for key, _ in rows) != _KEYS or len(rows) != len(said) or not rows[0][1]:
        return unexpected(said)
    return cut(reply.stdout) or Frameworks(**dict(rows))


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=Frameworks,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("python3 -c ...",), shell=_SHELL, timeout_s=30),
        read=lambda reply, _place: read(reply),
    ),
)
