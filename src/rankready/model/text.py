"""What a person reads, in both languages, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Lang(StrEnum):
    """The languages we speak."""

    EN = "en"
    ZH = "zh"


@dataclass(frozen=True, slots=True)
class Text:
    """One statement in English and in Chinese, equal in content."""

    en: str
    zh: str

    def to(self, lang: Lang) -> str:
        """Return the wording in one language."""
        return self.zh if lang is Lang.ZH else self.en


def visible(text: str) -> str:
    """Write out what a terminal would obey: control, escape and direction characters become visible escapes.

    Remote words are hostile; everything printed passes through here. Newlines and tabs are written out too, so one
    statement stays one line.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _shown(c) for c in text)


def _shown(character: str) -> str:
    """``str.isprintable`` is false for categories Cc, Cf (bidirectional marks), Cs, Co, Cn, Zl, Zp and odd spaces."""
    return character.encode("unicode_escape").decode("ascii") if character not in _SPACES else " "


_SPACES = "\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}"
