"""A rank table's file: its name, its bytes, and the JSON in it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.model.text import Text
from rankready.plan.ranktable.json_text import Broken, parse

if TYPE_CHECKING:
    from rankready.plan.ranktable.json_text import Node

MOST_BYTES = 40 << 20  # HCCL reads no larger file (facts/launch 1.4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What stands in a file. ``size`` in bytes, of the whole file; ``link``: its name is a symbolic link."""

    name: str
    size: int
    root: Node | Broken
    mark: bool = False  # a byte order mark stands in front
    link: bool = False


def read_document(name: str, data: bytes, *, size: int | None = None, link: bool = False) -> Document:
    """Read a file's bytes; never raises. ``size``: of the file, when ``data`` is only its beginning."""
    whole = len(data) if size is None else size
    if whole > MOST_BYTES:
        told = Text(f"{whole:,} bytes, not read", f"{whole:,} 字节，未读取")
        return Document(name=name, size=whole, link=link, root=Broken(told, excess=True))
    mark = data.startswith(codecs.BOM_UTF8)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        broken = Broken(Text("bytes that are no UTF-8", "含有非 UTF-8 字节"), line, column)
        return Document(name=name, size=whole, link=link, mark=mark, root=broken)
    return Document(name=name, size=whole, link=link, mark=mark, root=parse(text))
