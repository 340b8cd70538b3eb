"""How to make one thing so on a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.change import Change, What
    from rankready.model.command import Command, Reply
    from rankready.model.snapshot import Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """``set(change)`` gives the command that makes it so; ``accepted(reply)`` is None, or a Gap saying why not.

    Acceptance is a tool's word, not a proof: whoever applies reads the value back (facts/hccn 1, rule 5).
    """

    what: What
    set: Callable[[Change], Command]
    accepted: Callable[[Reply], Gap | None]
