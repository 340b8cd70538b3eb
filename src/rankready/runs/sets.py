"""Send a server its changes, strictly one after another, and hear what the tool says of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.setting import Setting
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.kind.transport import Session
    from rankready.model.change import Change, What
    from rankready.model.command import Command
    from rankready.model.snapshot import Gap

LANE = "set"  # all sets of a server share one lane: the tool's file lock would only queue them (facts/hccn 2.2)


def settings() -> dict[What, Setting]:
    """Return how each kind of change is made."""
    return {s.what: s for s in catalog.offered("tools", "SETTINGS", Setting)}


def commands(changes: Sequence[Change]) -> tuple[Command, ...]:
    """Return the exact commands of these changes, in order."""
    known = settings()
    return tuple(replace(known[c.what].set(c), lane=LANE) for c in changes)


async def make_so(session: Session, changes: Sequence[Change]) -> tuple[tuple[Change, Gap], ...]:
    """Make every change of one server and return those that were not accepted, with the reason.

    Acceptance is the tool's word alone: the caller reads everything back. Raises Unreachable.
    """
    known = settings()
    replies = await ask(session, commands(changes), lanes=1)
    judged = ((c, known[c.what].accepted(r)) for c, r in zip(changes, replies, strict=True))
    return tuple((change, gap) for change, gap in judged if gap is not None)
