"""Asks the kernel's log for events of the NPUs (facts/logs 2.4, 6.5)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.kind.reading import cut, lines, shown, strange, unended, unexpected
from rankready.model.command import Command
from rankready.model.observed.chips import Assertion, NpuEvent, NpuEvents
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from rankready.model.command import Reply

# not by priority: the driver logs its errors as notices. The first line proves that there is a log to be read.
_SHELL = r"""command -v dmesg >/dev/null 2>&1 || { echo none; exit 0; }
dmesg 2>&1 | tr -c '\n -~' '?' |
  sed -n -e '1{s/^/first=/;p;d;}' -e '/Event id *=/p' -e '/event_id *[=:]/p' -e '/Heartbeat lost! (/p' |
  { IFS= read -r first && printf '%s\n' "$first"; tail -n 400; } | cut -c1-600
echo end
"""
_EVENT = re.compile(r"(?:Event id\s*=\s*|event_id\s*[=:]\s*\[?)(?:0x)?([48][0-9A-Fa-f]{7})\b", re.ASCII)
_DEVICE = re.compile(r"\b(?:dev_id|device_id|device)\s*[=:]\s*(\d{1,3})\b", re.ASCII)
_ASSERTION = re.compile(r"\bassertion\s*[=:]\s*([012])\b", re.ASCII)
_LOST = "Heartbeat lost! ("
_HEARTBEAT = "0x40F84E00"  # what the lost heartbeat of a board corresponds to
_DENIED = ("not permitted", "ermission denied")


def read(reply: Reply) -> NpuEvents | Gap:
    """Read the log's first line, the lines about events, and the closing word; a line about something else is none."""
    if (gap := unended(reply) or strange(reply.both)) is not None:
        return gap
    said = lines(reply.stdout)
    if said == ("none",) and reply.exit == 0:
        return Gap("no dmesg on the server", GapKind.UNSUPPORTED)
    if reply.exit != 0 or reply.stderr.strip() or said[-1:] != ("end",):
        return unexpected(lines(reply.both))
    if (gap := _unread(said[0])) is not None:
        return gap
    found = tuple(event for line in said[:-1] if (event := _event(line)) is not None)
    return cut(reply.stdout) or NpuEvents(events=found)


def _unread(first: str) -> Gap | None:
    if not first.startswith("first="):
        return Gap("the kernel's log is empty, as in a container")
    denied = any(word in first for word in _DENIED)
    return Gap(f"the kernel's log: {shown(first.removeprefix('first='))}", GapKind.DENIED) if denied else None


def _event(line: str) -> NpuEvent | None:
    found, device, assertion = _EVENT.search(line), _DEVICE.search(line), _ASSERTION.search(line)
    number = int(device[1]) if device else None
    if _LOST in line:
        return NpuEvent(code=_HEARTBEAT, device=number, assertion=Assertion.OCCURRED)
    if found is None:
        return None
    told = Assertion(assertion[1]) if assertion else Assertion.UNTOLD
    return NpuEvent(code=f"0x{found[1].upper()}", device=number, assertion=told)


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=NpuEvents,
        scope=Scope.SERVER,
        ask=lambda _server, _place: Command(argv=("dmesg | grep NPU events",), shell=_SHELL),
        read=lambda reply, _place: read(reply),
    ),
)
