"""Text as a terminal measures it: a Chinese character takes two cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 20  # narrower terminals are served as if they had this many columns
_WORD = re.compile(r"\s+|[^\s⺀-鿿　-〿＀-￯]+|.")

cells = cell_len


def clip(text: str, width: int) -> str:
    """Cut a line to a width; a cut shows as an ellipsis."""
    if cell_len(text) <= width:
        return text
    kept = ""
    used = 0
    for character in text:
        used += cell_len(character)
        if used > width - 1:
            break
        kept += character
    return f"{kept}…"


def pad(text: str, width: int) -> str:
    """Fill a text with spaces to a width."""
    return text + " " * max(0, width - cell_len(text))


def wrap(text: str, width: int, most: int) -> list[str]:
    """Break a text into at most ``most`` lines; Chinese breaks anywhere, other scripts between words."""
    lines: list[str] = [""]
    for word in _pieces(text, width):
        if cell_len(lines[-1]) + cell_len(word) <= width:
            lines[-1] += word
        elif not word.isspace():
            lines.append(word)
    lines = [line.rstrip() for line in lines if line.strip()] or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], clip(" ".join(lines[most - 1 :]), width)]
    return lines


def hang(head: str, text: str, width: int, most: int = 2) -> list[str]:
    """Wrap a text after a head; further lines stand below where the text began, where that leaves room."""
    indent = cell_len(head) if cell_len(head) <= width // 2 else 2
    first, *rest = wrap(head + text, width, 1 << 30)
    if not rest:
        return [first]
    left = text_after(head + text, first)
    return [first] + [" " * indent + line for line in wrap(left, max(1, width - indent), max(1, most - 1))]


def text_after(whole: str, first: str) -> str:
    """Return what a wrapped first line left over."""
    return whole[len(first) :].lstrip() if whole.startswith(first) else whole


def columns(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Set rows as columns two spaces apart; the last column is clipped."""
    if not rows:
        return []
    count = max(len(r) for r in rows)
    sizes = [max((cell_len(r[i]) for r in rows if i < len(r)), default=0) for i in range(count)]
    lines = ["  ".join(pad(c, sizes[i]) for i, c in enumerate(row)) for row in rows]
    return [clip(line.rstrip(), width) for line in lines]


def _pieces(text: str, width: int) -> list[str]:
    """Split into words, spaces and single Chinese characters; a word longer than a line is cut."""
    pieces: list[str] = []
    for word in _WORD.findall(text):
        while cell_len(word) > width > 1:
            head = _head(word, width)
            pieces.append(head)
            word = word[len(head) :]  # noqa: PLW2901  (eaten from the left)
        pieces.append(word)
    return pieces


def _head(word: str, width: int) -> str:
    end, used = 0, 0
    for character in word:
        used += cell_len(character)
        if used > width:
            break
        end += 1
    return word[: max(1, end)]
