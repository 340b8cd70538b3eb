"""Log lines that mean something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from rankready.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """One line shape: ``pattern`` is searched in a line; ``waits`` marks lines of those who only waited for another."""

    kind: str
    pattern: re.Pattern[str]
    title: Text
    codes: tuple[str, ...] = ()
    waits: bool = False
