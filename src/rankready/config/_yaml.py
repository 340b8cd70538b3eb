"""A YAML file as nodes with line numbers; whatever is no YAML for us is a mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ruamel.yaml import YAML, MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import Node

from rankready.model.errors import ConfigError, Mistake

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["MappingNode", "Node", "ScalarNode", "SequenceNode", "line_of", "nodes", "tag"]

LARGEST = 10 << 20  # bytes; 4,096 servers written one a line stay far below
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def nodes(path: Path) -> MappingNode:
    """Read a file as one YAML mapping; raises ConfigError with the line where it is none."""
    text = _text(path)
    try:
        root = YAML(typ="rt", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _syntax(path, error) from None
    except YAMLError as error:
        raise _wrong(path, None, str(error).splitlines()[0], "YAML") from None
    except RecursionError:
        raise _wrong(path, None, "lists in lists in lists", "the layout of cluster.yaml") from None
    if root is None or (isinstance(root, ScalarNode) and tag(root) == "null"):
        raise _wrong(path, None, "nothing", "cluster, generation, servers and parameter_plane")
    if not isinstance(root, MappingNode):
        kind = "a list" if isinstance(root, SequenceNode) else "one value"
        raise _wrong(path, line_of(root), kind, "a mapping such as `cluster: lab`")
    return root


def tag(node: Node) -> str:
    """Return the last part of a node's tag: ``null``, ``bool``, ``int``, ``str``, ``merge``."""
    return str(node.tag).rpartition(":")[2]


def line_of(node: Node) -> int:
    """Return the line on which a node starts, counted from 1."""
    return int(node.start_mark.line) + 1


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise _wrong(path, None, (error.strerror or "unreadable").lower(), "a readable file") from None
    if len(data) > LARGEST:
        raise _wrong(path, None, f"more than {LARGEST >> 20} MiB", "a smaller file")
    if data.startswith(_UTF16):
        raise _wrong(path, 1, "UTF-16", "a file saved as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _wrong(
            path, line, f"byte 0x{data[error.start]:02x}, which is no UTF-8", "a file saved as UTF-8"
        ) from None
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        raise _wrong(path, line, f"control character 0x{ord(control.group()):02x}", "plain text")
    return text


def _syntax(path: Path, error: MarkedYAMLError) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    line = None if mark is None else mark.line + 1
    problem = (error.problem or error.context or "no YAML").splitlines()[0]
    if "'\\t'" in problem:
        return _wrong(path, line, "a tab", "spaces: YAML does not take tabs for indentation")
    if "another document" in problem:
        return _wrong(path, line, "a second document (---)", "one document")
    return _wrong(path, line, problem, "YAML", hint=_context(error))


def _context(error: MarkedYAMLError) -> str:
    if error.context is None or error.context_mark is None:
        return ""
    return f"{error.context} that began in line {error.context_mark.line + 1}"


def _wrong(path: Path, line: int | None, seen: str, expected: str, *, hint: str = "") -> ConfigError:
    mistake = Mistake(file=str(path), line=line, path="(file)", seen=seen, expected=expected, hint=hint)
    return ConfigError((mistake,))
