"""cluster.yaml as it may leave the machine: line for line the same, without secrets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from rankready.records._secrets import REMOVED, scrub, secret_name, secret_value

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY_LINE = re.compile(r"^(\s*(?:-\s+)?)([\w.\"'-]+)(\s*:)(.*)$")
_PATHS = ("key", "known_hosts")  # name files; the files themselves are never read
_ENV = "env"


def without_secrets(text: str) -> str:
    """Return the text with secret values replaced, by its nodes where it is YAML, else line by line."""
    root = compose(text)
    return scrub(_by_lines(text) if root is None else _by_nodes(text, root))


def compose(text: str) -> Node | None:
    """Return the document's node; None where it is no YAML."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    return root if isinstance(root, Node) else None


def _by_nodes(text: str, root: Node) -> str:
    for start, end in sorted(_spans(root), reverse=True):
        old = text[start:end]
        tail = old[len(old.rstrip()) :]  # a block scalar ends after its line break
        text = text[:start] + REMOVED + tail + text[end:]
    return text


def _spans(node: Node, *, variables: bool = False) -> Iterator[tuple[int, int]]:
    match node:
        case MappingNode():
            for key, value in node.value:
                name = str(key.value)
                if _secret(name, value, variables=variables):
                    yield value.start_mark.index, value.end_mark.index
                else:
                    yield from _spans(value, variables=variables or name == _ENV)
        case SequenceNode():
            for item in node.value:
                yield from _spans(item, variables=variables)


def _secret(name: str, value: Node, *, variables: bool) -> bool:
    if secret_name(name) and name not in _PATHS:
        return True
    return variables and isinstance(value, ScalarNode) and secret_value(str(value.value))


def _by_lines(text: str) -> str:
    """What is no YAML: a line whose key is secret loses its value, and deeper lines below it are left out."""
    out: list[str] = []
    deep: int | None = None
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if deep is not None and (not line.strip() or indent > deep):
            continue
        deep = None
        found = _KEY_LINE.match(line)
        if found and secret_name(found[2].strip("\"'")) and found[2] not in _PATHS:
            deep = indent
            line = f"{found[1]}{found[2]}{found[3]} {REMOVED}"  # noqa: PLW2901  (the line as it may be shown)
        out.append(line)
    return "\n".join(out)
