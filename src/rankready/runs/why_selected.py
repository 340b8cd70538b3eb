"""Lines that were selected on a server already, as if its files were here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankready.runs.why_folder import hosts, read_json, source_of
from rankready.runs.why_select import LINE, Selected

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankready.runs.why_folder import Source

SELECTED = "selected.json"


def selected(folder: Path) -> Iterator[tuple[Source, Selected]]:
    """Yield each file that a server told of and that is not here itself."""
    for host in hosts(folder):
        told = read_json(folder / host / SELECTED)
        files = told.get("files") if isinstance(told, dict) else None
        for item in files if isinstance(files, list) else ():
            if not isinstance(item, dict) or not isinstance(item.get("file"), str):
                continue
            path = folder / host / item["file"]
            if ".." in path.parts or path.is_file():
                continue
            source = source_of(folder, host, path)
            if source is not None:
                yield source, _lines(item)


def _lines(item: dict[str, Any]) -> Selected:
    lines = tuple(
        (offset, number, text[:LINE])
        for entry in item.get("lines") or ()
        if isinstance(entry, list) and len(entry) == 3  # noqa: PLR2004  (offset, number, text)
        for offset, number, text in [entry]
        if isinstance(offset, int) and isinstance(number, int) and isinstance(text, str)
    )
    size = item.get("size")
    notes = tuple(str(n)[:200] for n in item.get("notes") or () if isinstance(n, str))
    return Selected(lines=lines, size=size if isinstance(size, int) else 0, notes=notes)
