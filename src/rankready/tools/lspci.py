"""Asks the PCI bus for accelerators; their device id tells the generation (facts/hccn 5.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.chips import Accelerators
from rankready.model.snapshot import Gap

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.command import Reply

TOOL = "lspci"

_DEVICE = re.compile(
    r"((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) Processing accelerators: "
    r"Huawei Technologies Co\., Ltd\. Device (d80[0-9a-f]) \(rev [0-9a-f]{2}\)\s*",
    re.ASCII,
)
_ANY = re.compile(r"(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7] \S.*")


def read_devices(reply: Reply) -> Accelerators | Gap:
    """Read `lspci`, whole or filtered for accelerators; nothing proves that the list is whole."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    if reply.exit != 0 or reply.stderr.strip():
        return Gap(f"lspci: exit {reply.exit}: {shown(reply.first_line)}")
    said = lines(reply.stdout)
    ours = [line for line in said if "accelerators" in line]
    rows = [m for line in ours if (m := _DEVICE.fullmatch(line))]
    other = [line for line in said if not _ANY.fullmatch(line)]
    if not said or other or len(rows) != len(ours):
        return unexpected((*other, *ours))
    if len({m[1] for m in rows}) != len(rows):
        return Gap("a device stands twice on the bus")
    return cut(reply.stdout) or Accelerators(devices=tuple((m[1], m[2]) for m in rows))


def reader(_arguments: tuple[str, ...]) -> Callable[[Reply], object]:
    """Return how to read the list."""
    return read_devices


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=Accelerators,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("lspci",)),
        read=lambda reply, _place: read_devices(reply),
    ),
)
