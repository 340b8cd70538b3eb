"""From a job's specification to the processes of each server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.ranks import LaunchSpec, Node, RankCommand
    from rankready.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """``commands(spec, node)`` gives what the guard starts on that node. Pure."""

    name: str
    title: Text
    commands: Callable[[LaunchSpec, Node], tuple[RankCommand, ...]]
