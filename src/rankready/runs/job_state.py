"""What a server and its devices say of themselves when a job's logs are collected, in their tools' own words.

`why` reads these files as it reads what others collected; a file is named by what was asked, and of which device.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.kind.question import Scope
from rankready.model.observed.chips import DriverVersion
from rankready.model.observed.device import DeviceAddress, Link, LinkHistory, NetHealth, TlsSwitch
from rankready.model.observed.host import Chips
from rankready.model.observed.job_host import Cann, Frameworks
from rankready.model.observed.optics import Optics
from rankready.model.snapshot import Gap, GapKind
from rankready.runs.observe import questions
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankready.kind.question import Question
    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.model.command import Command, Reply
    from rankready.model.place import Place

FACTS = (
    Chips, DriverVersion, Cann, Frameworks, Link, LinkHistory, DeviceAddress, TlsSwitch, NetHealth, Optics,
)  # fmt: skip
FOLDER = "environment_check"
WITHIN_S = 90.0
BYTES = 256 << 10  # of one answer
_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")
NOT_THERE = 127  # the shell's word for a program that it does not find


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How asking went: what was kept, what was not learned and why, and programs that are not there."""

    files: int = 0
    gaps: tuple[tuple[str, str], ...] = ()
    absent: tuple[str, ...] = ()


async def state(server: Server, session: Session, into: Path) -> State:
    """Ask one server and keep its answers below ``into``; raises Unreachable when the connection breaks."""
    asked = [(q, place, q.ask(server, place)) for q in questions(FACTS) for place in _places(q, server)]
    replies = await ask(session, [command for _, _, command in asked], within_s=WITHIN_S)
    files = 0
    gaps: list[tuple[str, str]] = []
    absent: dict[str, None] = {}
    for (question, place, command), reply in zip(asked, replies, strict=True):
        name = f"{FOLDER}/{_name(question, command, place)}"
        if reply.exit == NOT_THERE:
            absent[_program(command)] = None
            continue
        if reply.stdout.strip() or reply.stderr.strip():
            _keep(into / name, reply)
            files += 1
        found = question.read(reply, place)
        if isinstance(found, Gap) and found.kind not in (GapKind.UNSET, GapKind.UNSUPPORTED):
            gaps.append((name, found.reason))
    return State(files=files, gaps=tuple(gaps), absent=tuple(absent))


def _places(question: Question[object], server: Server) -> Sequence[Place]:
    return tuple(server.device_places()) if question.scope is Scope.DEVICE else (server.place,)


def _keep(path: Path, reply: Reply) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    told = reply.stdout if reply.stdout.strip() else reply.stderr
    path.write_bytes(told.encode(errors="replace")[:BYTES])


def _name(question: Question[object], command: Command, place: Place) -> str:
    """``X_tool -i 2 -link_stat -g`` → ``X_link_stat_2.txt``: the program, what was asked, the device.

    What no single call answers is named by what it teaches.
    """
    if command.shell:
        return f"{_SNAKE.sub('_', question.fact.__name__).lower()}.txt"
    words = [w.strip("-") for part in command.argv for w in part.split()]
    told = [w.removesuffix("_tool") for w in words if w.replace("_", "").replace("-", "").isalnum()]
    kept = [w for w in told if not w.isdecimal() and len(w) > 1][:4]
    device = f"_{place.device}" if place.device >= 0 else ""
    return f"{'_'.join(kept) or 'asked'}{device}.txt"


def _program(command: Command) -> str:
    return command.argv[0].split()[0] if command.argv else "?"
