"""One view of a record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.model.record import Record
    from rankready.model.text import Lang


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``draw(record, lang, width)`` gives the whole text; pure. ``name`` is what file endings call it."""

    name: str
    draw: Callable[[Record, Lang, int], str]
