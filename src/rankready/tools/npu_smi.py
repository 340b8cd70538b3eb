"""Asks npu-smi which devices a server has, how they are and who uses them (facts/hccn 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.observed.chips import NpuWorkMode
from rankready.model.observed.host import Chips
from rankready.model.snapshot import Gap
from rankready.tools._npu_lists import read_count, read_map
from rankready.tools._npu_sheets import read_board, read_health, read_pod, read_work_mode
from rankready.tools._npu_table import read_info
from rankready.tools._npu_topo import read_topo
from rankready.tools._npu_words import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place

TOOL = "npu-smi"

INFO = Command(argv=("npu-smi", "info"), timeout_s=30.0)
"""It walks all devices one by one."""


def ask_work_mode(server: Server, _place: Place) -> Command:
    """Ask the first NPU: the mode is set for the whole server (facts/hccn 7.1). On A1 an NPU is a device."""
    return Command(argv=("npu-smi", "info", "-t", "work-mode", "-i", str(min(server.devices, default=0))))


QUESTIONS: tuple[Question[object], ...] = (
    Question(
        fact=Chips,
        scope=Scope.SERVER,
        ask=lambda _server, _place: INFO,
        read=lambda reply, _place: read_info(reply),
    ),
    Question(  # asked of A1 only
        fact=NpuWorkMode,
        scope=Scope.SERVER,
        ask=ask_work_mode,
        read=lambda reply, _place: read_work_mode(reply),
    ),
)

_TYPES: Mapping[str, Callable[[Reply], object]] = {
    "board": read_board,
    "health": read_health,
    "spod-info": read_pod,
    "topo": read_topo,
    "work-mode": read_work_mode,
}


def reader(arguments: tuple[str, ...]) -> Callable[[Reply], object]:
    """Return how to read the answer to `npu-smi ARGUMENTS`."""
    rest = arguments[1:] if arguments[:1] == ("info",) else ("?",)
    match rest:
        case ():
            return read_info
        case ("-m", *_):
            return read_map
        case ("-l", *_):
            return read_count
        case ("-t", kind, *_) if kind in _TYPES:
            return _TYPES[kind]
    return _unread


def _unread(reply: Reply) -> Gap:
    return refusal(reply) or Gap("no reader for this command", zh="没有该命令的解读")
