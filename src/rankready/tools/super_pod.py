"""Asks where each die stands in its super pod (facts/hccn 5.2, 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.observed.chips import SuperPod
from rankready.tools._npu_sheets import read_pod

if TYPE_CHECKING:
    from rankready.model.cluster import Server
    from rankready.model.place import Place

_DIES = 2


def ask(_server: Server, place: Place) -> Command:
    """Name NPU and die: without the die every one is told die 0's id (facts/hccn 13, row 16)."""
    npu, die = divmod(place.device, _DIES)
    return Command(argv=("npu-smi", "info", "-t", "spod-info", "-i", str(npu), "-c", str(die)))


QUESTIONS: tuple[Question[object], ...] = (
    Question(fact=SuperPod, scope=Scope.DEVICE, ask=ask, read=lambda reply, _place: read_pod(reply)),
)
