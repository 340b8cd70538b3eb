"""One step of making it so, and an ordered tuple of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.place import Place


class What(StrEnum):
    """What a change sets; in the order in which one device must be set (facts/hccn 8)."""

    ADDRESS = "address"  # values are str(Interface): 10.20.0.7/24
    GATEWAY = "gateway"
    NETDETECT = "netdetect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One step: ``before`` is what stands there (empty = unset, None = not known), ``after`` what should stand.

    ``reason_zh`` is the reason in Chinese; empty where there is none, or where it comes from an older file.
    """

    place: Place
    what: What
    before: str | None
    after: str
    reason: str = ""
    reason_zh: str = ""

    @property
    def why(self) -> Text:
        """The reason in both languages."""
        return Text(en=self.reason, zh=self.reason_zh or self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A conflict found before any write: the rule, the places, the words."""

    rule: str
    places: tuple[Place, ...]
    message: str
    zh: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An ordered tuple of changes, or the problems that forbid them. ``unread``: places that could not be read."""

    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    unread: tuple[tuple[Place, Text], ...] = ()
