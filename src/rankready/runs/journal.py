"""What is about to be changed, written down and fsynced before the change; `undo` works from here alone.

One JSON object a line: ``begin``, then for each server ``conf`` (its file's text before) and ``change`` entries, then
``done`` or ``failed`` per server, then ``end``. A line cut by a crash is the last one and is passed over: what it
announced had not been sent yet.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
from typing import TYPE_CHECKING, Any

from rankready.model.change import Change, What
from rankready.model.errors import ConfigError, Mistake
from rankready.model.place import parse_place
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Journal:
    """One run's journal; every entry is on the disk before the call returns."""

    def __init__(self, path: Path) -> None:
        """Open for appending; the folder is made when needed."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if new:
            _fsync_folder(path.parent)

    @classmethod
    def begin(cls, home: Path, verb: str) -> Journal:
        """Start a journal for one verb."""
        at = now_utc()
        stem = at.replace(":", "").replace("+0000", "Z").replace("+00:00", "Z")
        journal = cls(home / "journal" / f"{stem}-{verb}-{os.getpid()}.jsonl")
        who = {"user": getpass.getuser(), "host": socket.gethostname(), "pid": os.getpid()}
        journal.write("begin", verb=verb, at=at, **who)
        return journal

    def write(self, kind: str, **entry: Any) -> None:  # noqa: ANN401  (JSON values)
        """Append one entry and fsync it."""
        line = json.dumps({"kind": kind, **entry}, ensure_ascii=False)
        os.write(self._file, line.encode() + b"\n")
        os.fsync(self._file)

    def changes(self, server: str, changes: Iterable[Change]) -> None:
        """Write a server's changes, all before the first of them is sent; one fsync for the lot."""
        lines = [
            json.dumps({"kind": "change", "server": server, **_change_entry(c)}, ensure_ascii=False) for c in changes
        ]
        os.write(self._file, "".join(line + "\n" for line in lines).encode())
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _change_entry(change: Change) -> dict[str, str | None]:
    return {
        "place": str(change.place),
        "what": change.what.value,
        "before": change.before,
        "after": change.after,
        "reason": change.reason,
    }


def entries(path: Path) -> tuple[dict[str, Any], ...]:
    """Read a journal; raises ConfigError where a line before the last is no JSON."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines) - 1:
                mistake = Mistake(
                    file=str(path), line=number, path="journal", seen=line[:80], expected="one JSON object a line"
                )
                raise ConfigError((mistake,)) from None
    return tuple(found)


def changed(found: Iterable[dict[str, Any]]) -> dict[str, tuple[Change, ...]]:
    """Return the announced changes by server, in the order in which they were to be made."""
    by_server: dict[str, list[Change]] = {}
    for entry in found:
        if entry["kind"] == "change":
            change = Change(
                place=parse_place(entry["place"]),
                what=What(entry["what"]),
                before=entry["before"],
                after=entry["after"],
                reason=entry.get("reason", ""),
            )
            by_server.setdefault(entry["server"], []).append(change)
    return {server: tuple(changes) for server, changes in by_server.items()}


def latest(home: Path, verb: str) -> Path | None:
    """Return the newest journal of a verb, or None."""
    found = sorted((home / "journal").glob(f"*-{verb}-*.jsonl"))
    return found[-1] if found else None


def _fsync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
