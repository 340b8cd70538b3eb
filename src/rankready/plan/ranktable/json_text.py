"""JSON with the place of every value: strict as HCCL's own reader is, and never deeper or larger than a rank table."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_DEPTH: Final = 32  # a rank table nests six deep
MOST_VALUES: Final = 1_000_000  # 200,000 ranks; HCCL was tried with 32,000 (facts/launch 8)

_BLANK = re.compile(r"[ \t\n\r]*+")
# possessive: a string of megabytes must not leave a way back for each of its characters
_TOKEN = re.compile(
    r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+"'
    r"|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
    r"|true|false|null|[{}\[\],:]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 40


class Kind(StrEnum):
    """JSON's kinds of values, as messages name them."""

    OBJECT = "object"
    LIST = "list"
    STRING = "string"
    NUMBER = "number"
    WORD = "true, false or null"


@dataclass(frozen=True, slots=True)
class Node:
    """One value with its line (from 1) and its path (``server_list[0].device[3].rank_id``); ``text``: of a leaf."""

    kind: Kind
    line: int
    path: str
    text: str = ""
    members: tuple[tuple[str, Node], ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str) -> Node | None:
        """Return a member; of a key that stands twice the last one, as HCCL's reader and Python's do."""
        for name, node in reversed(self.members):
            if name == key:
                return node
        return None

    def walk(self) -> Iterator[Node]:
        """Yield this value and all below it, in the file's order."""
        yield self
        for node in (*(n for _, n in self.members), *self.items):
            yield from node.walk()


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a text is no JSON, and where. ``excess``: it may be JSON, but deeper or larger than we read."""

    reason: Text
    line: int = 1
    column: int = 1
    excess: bool = False


def parse(text: str) -> Node | Broken:
    """Read a whole text as one JSON value."""
    reader = _Reader(text)
    try:
        found = reader.value("", 0)
        reader.end()
    except _Stop as stop:
        return stop.broken
    return found


class _Stop(Exception):  # noqa: N818  (carries a result out of the recursion, never leaves this file)
    def __init__(self, broken: Broken) -> None:
        super().__init__()
        self.broken = broken


class _Reader:
    """A position in a text; one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._line_start = 0
        self._values = 0
        self._next()

    def _next(self) -> None:
        blank = _BLANK.match(self._text, self._at)
        start = blank.end() if blank else self._at
        lines = self._text.count("\n", self._at, start)
        if lines:
            self._line += lines
            self._line_start = self._text.rfind("\n", self._at, start) + 1
        match = _TOKEN.match(self._text, start)
        self._start = start
        self._word = match[0] if match else ""
        self._at = match.end() if match else start

    def _stop(self, en: str, zh: str, *, excess: bool = False) -> _Stop:
        return _Stop(Broken(Text(en, zh), self._line, self._start - self._line_start + 1, excess))

    def _unexpected(self) -> _Stop:
        seen = self._text[self._start : self._start + _SHOWN].split("\n", 1)[0]
        if not seen:
            return self._stop("the text ends too early", "文本提前结束")
        if seen.startswith(("//", "/*", "#")):
            return self._stop("a comment, which JSON does not have", "含有注释，JSON 不允许注释")
        return self._stop(f"unexpected {seen!r}", f"出现意外内容 {seen!r}")

    def value(self, path: str, depth: int) -> Node:
        self._values += 1
        if depth > MOST_DEPTH:
            raise self._stop(f"nested deeper than {MOST_DEPTH}", f"嵌套超过 {MOST_DEPTH} 层", excess=True)
        if self._values > MOST_VALUES:
            raise self._stop(f"more than {MOST_VALUES:,} values", f"超过 {MOST_VALUES:,} 个值", excess=True)
        match self._word[:1]:
            case "{":
                return self._object(path, depth)
            case "[":
                return self._list(path, depth)
            case "" | "}" | "]" | "," | ":":
                raise self._unexpected()
        return self._leaf(path)

    def _leaf(self, path: str) -> Node:
        line, token = self._line, self._word
        match token[0]:
            case '"':
                return Node(Kind.STRING, line, path, self._string())
            case "t" | "f" | "n":
                self._next()
                return Node(Kind.WORD, line, path, token)
        self._next()
        return Node(Kind.NUMBER, line, path, token)

    def _string(self) -> str:
        found: str = json.loads(self._word)
        if _SURROGATE.search(found):
            raise self._stop("half of a surrogate pair in a string", "字符串中含有不成对的代理字符")
        self._next()
        return found

    def _object(self, path: str, depth: int) -> Node:
        line = self._line
        members: list[tuple[str, Node]] = []
        self._next()
        while self._word != "}":
            if members:
                self._expect(",")
            if self._word[:1] != '"':
                raise self._unexpected()
            key = self._string()
            self._expect(":")
            members.append((key, self.value(f"{path}.{key}" if path else key, depth + 1)))
        self._next()
        return Node(Kind.OBJECT, line, path, members=tuple(members))

    def _list(self, path: str, depth: int) -> Node:
        line = self._line
        items: list[Node] = []
        self._next()
        while self._word != "]":
            if items:
                self._expect(",")
            items.append(self.value(f"{path}[{len(items)}]", depth + 1))
        self._next()
        return Node(Kind.LIST, line, path, items=tuple(items))

    def _expect(self, token: str) -> None:
        if self._word != token:
            raise self._unexpected()
        self._next()

    def end(self) -> None:
        if self._start != len(self._text):
            raise self._unexpected()
