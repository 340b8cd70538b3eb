"""A walk over the nodes of a file beside the layout that it should have; collects every mistake with its line."""

from __future__ import annotations

import json
import re
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from rankready.config import _values
from rankready.config._shape import Ip, Net, Shape
from rankready.config._yaml import MappingNode, ScalarNode, SequenceNode, line_of, tag
from rankready.model.errors import Mistake
from rankready.model.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankready.config._yaml import Node

S = TypeVar("S", bound=Shape)

_PLACEHOLDER = re.compile(r"<[A-Za-z][^<>]{0,60}>|(?i:changeme|change-me|todo|fixme|tbd)")
_INTEGER = re.compile(r"[-+]?[0-9]{1,9}")
_READERS: tuple[tuple[object, Callable[[str], object]], ...] = (
    (Ip, _values.address),
    (Net, _values.network),
    (date, _values.day),
)
BAD = object()
"""A value that is already among the mistakes."""


def quoted(text: str) -> str:
    """Show what stood in the file, bounded, with what a terminal would obey written out."""
    short = text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004  (fits a mistake on one line)
    return visible(json.dumps(short, ensure_ascii=False))


def near(word: str, words: Iterable[str]) -> str:
    """Return a hint that names the closest known word, or nothing."""
    found = get_close_matches(word.lower(), list(words), n=1, cutoff=0.6)
    return f'did you mean "{found[0]}"?' if found else ""


class Walk:
    """One walk: ``lines`` maps each path that was read to its line, ``mistakes`` grows."""

    def __init__(self, file: str) -> None:
        """Start with nothing read and nothing wrong."""
        self.file = file
        self.lines: dict[str, int] = {}
        self.mistakes: list[Mistake] = []

    def wrong(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        """Note a mistake at a path that was read; an unread path takes the line of what holds it."""
        line = self.line(path)
        self.mistakes.append(
            Mistake(file=self.file, line=line, path=visible(path) or "(file)", seen=seen, expected=expected, hint=hint)
        )

    def line(self, path: str) -> int | None:
        """Return the line of a path, or of what holds it."""
        while path and path not in self.lines:
            path = re.sub(r"(^|\.)[^.\[]*$|\[[^\[]*$", "", path)
        return self.lines.get(path)

    def at(self, path: str) -> str:
        """Say where a path stands, for words about another one."""
        return f"line {self.line(path)}, {path}"

    def shape(self, node: Node, shape: type[S], path: str) -> S:
        """Read a mapping into its shape; a wrong value is noted and left at its default."""
        fields = _fields(shape)
        taken: dict[str, object] = {}
        seen: set[str] = set()
        misspelt: list[str] = []
        for key, value in self.pairs(node, path):
            where = f"{path}.{key}" if path else key
            self.lines.setdefault(where, line_of(value))
            if key in fields:
                seen.add(key)
                found = self.value(value, fields[key], where)
                taken |= {} if found is BAD else {key: found}
            elif path or not key.startswith("x-"):  # x-… at the top may hold anchors
                misspelt += get_close_matches(key.lower(), fields, n=1)
                self.wrong(where, f"unknown key {quoted(key)}", f"one of {', '.join(fields)}", near(key, fields))
        for need in shape.needs:
            if need not in seen and need not in misspelt:
                self.wrong(f"{path}.{need}" if path else need, "nothing", f"a key {quoted(need)}")
        return shape(**taken)

    def pairs(self, node: Node, path: str) -> Iterator[tuple[str, Node]]:
        """Yield keys and values of a mapping, merged keys last; a key that stands twice is a mistake."""
        own: dict[str, int] = {}
        merged: list[Node] = []
        for key, value in cast("MappingNode", node).value:
            if tag(key) == "merge":
                merged.extend(value.value if isinstance(value, SequenceNode) else [value])
                continue
            name = key.value if isinstance(key, ScalarNode) else ""
            where = f"{path}.{name}" if path else name
            self.lines.setdefault(where, line_of(key))
            if name in own:
                self._again(where, name, line_of(key), own[name])
                continue
            own[name] = line_of(key)
            yield name, value
        for other in merged:
            yield from self._merged(other, own, path)

    def value(self, node: Node, kind: Any, path: str) -> Any:  # noqa: ANN401  (the kind is only known at run time)
        """Read one value of a kind; returns BAD when it is among the mistakes."""
        kind, expected = _plain(kind)
        options = [_plain(k) for k in get_args(kind)] if get_origin(kind) in (Union, UnionType) else [(kind, expected)]
        self.lines.setdefault(path, line_of(node))
        for option, words in options:
            if _fits(node, option):
                return self._one(node, option, words or expected, path)
        if _is_null(node) and any(get_origin(o) in (tuple, dict) for o, _ in options):
            return BAD  # a list whose entries are all commented out
        words = " or ".join(dict.fromkeys(_describe(o, w) for o, w in options))
        self.wrong(path, _show(node), words, _bracket_hint(node))
        return BAD

    def _one(self, node: Node, kind: Any, expected: str, path: str) -> Any:  # noqa: ANN401  (as value)
        if isinstance(node, ScalarNode):
            return self._scalar(node, kind, expected, path)
        if get_origin(kind) is tuple:
            inner = get_args(kind)[0]
            found = [self.value(item, inner, f"{path}[{i}]") for i, item in enumerate(node.value)]
            return tuple(None if f is BAD else f for f in found)  # a wrong entry keeps its number
        if get_origin(kind) is dict:
            inner = get_args(kind)[1]
            read = {key: self.value(item, inner, f"{path}.{key}") for key, item in self.pairs(node, path)}
            return {key: item for key, item in read.items() if item is not BAD}
        return self.shape(node, kind, path)

    def _scalar(self, node: ScalarNode, kind: Any, expected: str, path: str) -> Any:  # noqa: ANN401  (as value)
        text = node.value
        if _PLACEHOLDER.search(text) if "<" in text else _PLACEHOLDER.fullmatch(text):
            self.wrong(path, f"the placeholder {quoted(text)}", _describe(kind, expected))
            return BAD
        try:
            return _parse(node, kind)
        except msgspec.ValidationError:
            hint = near(text, kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ""
        except ValueError as error:
            hint = visible(str(error))
        self.wrong(path, quoted(text), _describe(kind, expected), hint)
        return BAD

    def _again(self, path: str, name: str, line: int, first: int) -> None:
        self.mistakes.append(
            Mistake(
                file=self.file,
                line=line,
                path=path,
                seen=f"the key {quoted(name)} again (first in line {first})",
                expected="each key once",
            )
        )

    def _merged(self, node: Node, own: dict[str, int], path: str) -> Iterator[tuple[str, Node]]:
        if not isinstance(node, MappingNode):
            self.wrong(path, "a merge key (<<) without a mapping", "an alias of a mapping")
            return
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else ""
            if name not in own and tag(key) != "merge":
                own[name] = line_of(key)
                yield name, value


@cache
def _fields(shape: type[Shape]) -> dict[str, Any]:
    """Keys and kinds of a shape; a thousand servers have one."""
    hints = get_type_hints(shape, include_extras=True)
    return {f.name: hints[f.name] for f in msgspec.structs.fields(shape)}


def _plain(kind: Any) -> tuple[Any, str]:  # noqa: ANN401  (as value)
    """Take Optional and Annotated off; return the kind (Annotated kept for its limits) and its description."""
    if get_origin(kind) in (Union, UnionType) and type(None) in get_args(kind):
        rest = [k for k in get_args(kind) if k is not type(None)]
        return _plain(rest[0]) if len(rest) == 1 else (Union[tuple(rest)], "")  # noqa: UP007  (built at run time)
    if get_origin(kind) is Annotated:
        return kind, next((m.description or "" for m in kind.__metadata__ if isinstance(m, msgspec.Meta)), "")
    return kind, ""


def _bare(kind: Any) -> Any:  # noqa: ANN401  (as value)
    return kind.__origin__ if get_origin(kind) is Annotated else kind


def _fits(node: Node, kind: Any) -> bool:  # noqa: ANN401  (as value)
    """Tell whether a node has the form of a kind; its content is another question."""
    bare = _bare(kind)
    if get_origin(bare) is tuple:
        return isinstance(node, SequenceNode)
    if get_origin(bare) is dict or (isinstance(bare, type) and issubclass(bare, Shape)):
        return isinstance(node, MappingNode)
    return isinstance(node, ScalarNode) and not _is_null(node)


def _parse(node: ScalarNode, kind: Any) -> object:  # noqa: ANN401  (as value)
    """Read a scalar; ValueError says why not (msgspec.ValidationError is one)."""
    bare = _bare(kind)
    for known, read in _READERS:
        if bare == known:
            return read(node.value)
    plain = node.style is None
    if plain and tag(node) == "bool" and bare is bool:
        return node.value.lower() == "true"
    takes_int = bare is int or int in get_args(bare)
    raw = int(node.value) if plain and takes_int and _INTEGER.fullmatch(node.value) else node.value
    return msgspec.convert(raw, kind)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and tag(node) == "null"


def _show(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    return "nothing" if _is_null(node) else quoted(node.value)


def _describe(kind: Any, words: str) -> str:  # noqa: ANN401  (as value)
    bare = _bare(kind)
    if words:
        return words
    if isinstance(bare, type) and issubclass(bare, StrEnum):
        return " or ".join(bare)
    if bare is bool:
        return "true or false"
    if get_origin(bare) is tuple:
        return "a list"
    return "a mapping"


def _bracket_hint(node: Node) -> str:
    """An unquoted ``[fd00::1]:22`` or ``[001-128].example`` begins a YAML list."""
    return "a value that begins with [ must be quoted" if isinstance(node, SequenceNode) else ""
