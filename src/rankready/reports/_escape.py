"""The one door through which remote words reach a page: what a terminal would obey is written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.text import Text, visible

if TYPE_CHECKING:
    from rankready.model.text import Lang

__all__ = ["escape", "say"]

escape = visible


def say(text: str | Text, lang: Lang) -> str:
    """Return a statement in one language, escaped."""
    return visible(text.to(lang) if isinstance(text, Text) else text)
