"""What ranks print, as lines that a terminal can show: whose they are in front, nothing in them that moves a cursor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.runs.guard_link import Piece

LINE_LIMIT = 8192  # characters; what is longer is shown in pieces
TAIL_BYTES = 16384
TAIL_LINES = 40
_ENDS = re.compile(rb"[\r\n]")
# C0 without tab, DEL, C1, and the marks that turn the direction of writing
_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COLOURS = re.compile("\x1b\\[[0-9;:]*m")


def harmless(text: str) -> str:
    """Return text without colours, and with a mark in place of every other control character."""
    return _UNSAFE.sub("\ufffd", _COLOURS.sub("", text))


class Lines:
    """Puts pieces of several logs together into whole lines; ``emit`` takes one line without its end.

    ``ranks``: whose lines are wanted (all, when empty); an agent's lines speak of many ranks and are always wanted.
    """

    def __init__(self, emit: Callable[[str], None], ranks: frozenset[int] = frozenset()) -> None:
        """Hold nothing yet."""
        self._emit, self._ranks = emit, ranks
        self._rest: dict[tuple[str, str], bytes] = {}

    def take(self, piece: Piece) -> None:
        """Take one piece and emit the lines that it completes."""
        if self._ranks and piece.rank is not None and piece.rank not in self._ranks:
            return
        key = (piece.server, piece.log)
        if piece.skipped:
            self._rest.pop(key, None)
            self._show(piece.server, piece.rank, f"... {piece.skipped} bytes are not held any more ...".encode())
        *lines, rest = _ENDS.split(self._rest.pop(key, b"") + piece.data)
        for line in (*lines, rest) if len(rest) > LINE_LIMIT else lines:
            self._show(piece.server, piece.rank, line)
        if rest and len(rest) <= LINE_LIMIT:
            self._rest[key] = rest

    def flush(self) -> None:
        """Emit what never got its line end."""
        for (server, log), rest in self._rest.items():
            number = re.search(r"rank-(\d+)", log)
            self._show(server, int(number[1]) if number else None, rest)
        self._rest.clear()

    def _show(self, server: str, rank: int | None, line: bytes) -> None:
        text = harmless(line.decode(errors="replace"))
        if text:
            self._emit(f"[{server if rank is None else rank}] {text}")


class Tails:
    """The last bytes of every log that passed by."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._last: dict[tuple[str, str], bytes] = {}

    def take(self, server: str, log: str, data: bytes) -> None:
        """Take one piece."""
        self._last[server, log] = (self._last.get((server, log), b"") + data)[-TAIL_BYTES:]

    def last(self, server: str, log: str) -> tuple[str, ...]:
        """Return the last lines of a log."""
        return tuple(self._last.get((server, log), b"").decode(errors="replace").splitlines()[-TAIL_LINES:])
