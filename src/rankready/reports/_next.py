"""What to do about something that is not known: log in by hand, look again, or tell us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.model.place import Place

SILENT = "HST001"
_STRANGE = ("words that we don't know", "control character", "bytes that are no text", "the tool said nothing")
_REPORT = Text(
    en="rankready bundle, and report it: these words are not known yet",
    zh="rankready bundle，并反馈：尚不认识这些输出",
)
_SSH = Text(en="log in by hand", zh="手动登录")
_VERBS = {"RTB": "rankready ranktable check", "JOB0": "rankready run", "JOB1": "rankready vet"}
_MESH = ("NET009", "NET010", "NET011")


def settle(codes: Sequence[str], places: Sequence[Place], reason: str, logins: Mapping[str, str]) -> Text:
    """Return what would settle it. ``logins``: server → the ssh line that logs in there."""
    if SILENT in codes:
        return by_hand([p.name for p in places], logins)
    if any(word in reason for word in _STRANGE):
        return _REPORT
    code = codes[0] if codes else ""
    verb = next((v for head, v in _VERBS.items() if code.startswith(head)), "")
    again = "rankready mesh" if code in _MESH else verb or f"rankready check --only {code}"
    return Text(en=f"look again: {again}", zh=f"再看一次：{again}")


def by_hand(servers: Sequence[str], logins: Mapping[str, str]) -> Text:
    """Return how to log in to the first of some servers; the others are reached alike."""
    line = next((logins[name] for name in servers if name in logins), "")
    if not line:
        return Text(en=f"{_SSH.en} by ssh", zh=f"用 ssh {_SSH.zh}")
    return Text(en=f"{_SSH.en}: {line}", zh=f"{_SSH.zh}：{line}")
