"""Send a server its changes, strictly one after another, and hear what the tool says of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.setting import Setting
from rankready.runs.script import ask
from rankready.runs.server_lock import fenced, fenced_off

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.kind.transport import Session
    from rankready.model.change import Change, What
    from rankready.model.command import Command, Reply
    from rankready.model.snapshot import Gap

LANE = "set"  # all sets of a server share one lane: the tool's file lock would only queue them (facts/hccn 2.2)


def settings() -> dict[What, Setting]:
    """Return how each kind of change is made."""
    return {s.what: s for s in catalog.offered("tools", "SETTINGS", Setting)}


def commands(changes: Sequence[Change]) -> tuple[Command, ...]:
    """Return the exact commands of these changes, in order."""
    known = settings()
    return tuple(replace(known[c.what].set(c), lane=LANE) for c in changes)


async def make_so(session: Session, changes: Sequence[Change], token: str) -> tuple[tuple[Change, Gap], ...]:
    """Make every change of one server and return those that were not accepted, with the reason.

    ``token`` is the server's lock. Acceptance is the tool's word alone: the caller reads everything back. Raises
    Unreachable.
    """
    known = settings()
    plain = commands(changes)
    replies = await ask(session, [fenced(command, token) for command in plain], lanes=1)
    judged = (
        (c, _judged(known[c.what], replace(r, command=p))) for c, p, r in zip(changes, plain, replies, strict=True)
    )
    return tuple((change, gap) for change, gap in judged if gap is not None)


def _judged(setting: Setting, reply: Reply) -> Gap | None:
    return fenced_off(reply) or setting.accepted(reply)
