"""What is about to be changed, written down and fsynced before the change; `undo` works from here alone.

One JSON object a line: ``begin`` (who, and what every device is to carry in the end), then for each server ``before``
(its file's text and what its devices carried) and ``change`` entries, then ``done`` or ``failed``; ``end`` once all is
as planned. ``continue`` opens it again, ``undone`` closes it for good. A line cut by a crash is the last one and is
passed over: what it announced had not been sent yet.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
from typing import TYPE_CHECKING, Any

from rankready.model.change import Change, What
from rankready.model.errors import ConfigError, Mistake, RankreadyError
from rankready.model.place import parse_place
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rankready.model.addressing import DeviceAddressing
    from rankready.model.place import Place

Entry = dict[str, Any]

_CLOSING = ("end", "undone")


class Journal:
    """One run's journal; every entry is on the disk before the call returns."""

    def __init__(self, path: Path) -> None:
        """Open for appending; the folder is made when needed, a line cut by a crash is dropped.

        This and every entry raise RankreadyError when the disk refuses: then nothing more may be changed.
        """
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = not path.exists()
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            _drop_cut_line(self._file)
            if new:
                _fsync_folder(path.parent)
        except OSError as error:
            raise _refused(path, error) from error

    @classmethod
    def begin(cls, home: Path, verb: str, addressing: Mapping[Place, DeviceAddressing] | None = None) -> Journal:
        """Start a journal for one verb; with what every device is to carry, an interrupted run can be finished."""
        at = now_utc()
        stem = at.replace(":", "").replace("+0000", "Z").replace("+00:00", "Z")
        journal = cls(home / "journal" / f"{stem}-{verb}-{os.getpid()}.jsonl")
        intent = {str(place): str(item.interface) for place, item in (addressing or {}).items()}
        journal.write("begin", verb=verb, at=at, **_who(), intent=intent)
        return journal

    @classmethod
    def again(cls, path: Path) -> Journal:
        """Go on with a journal that was not finished, so that one undo puts back what stood before both runs."""
        journal = cls(path)
        journal.write("continue", at=now_utc(), **_who())
        return journal

    def write(self, kind: str, **entry: Any) -> None:  # noqa: ANN401  (JSON values)
        """Append one entry and fsync it."""
        self._append([{"kind": kind, **entry}])

    def changes(self, server: str, changes: Iterable[Change]) -> None:
        """Write a server's changes, all before the first of them is sent; one fsync for the lot."""
        self._append([{"kind": "change", "server": server, **_change_entry(c)} for c in changes])

    def _append(self, entries: Sequence[Entry]) -> None:
        data = "".join(json.dumps(e, ensure_ascii=False) + "\n" for e in entries).encode()
        try:
            while data:
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            raise _refused(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _who() -> Entry:
    return {"user": getpass.getuser(), "host": socket.gethostname(), "pid": os.getpid()}


def _refused(path: Path, error: OSError) -> RankreadyError:
    return RankreadyError(
        f"{path}: {error.strerror}; nothing is changed that is not journalled first\n"
        f"{path}：{error.strerror}；未写入日志的修改一律不执行"
    )


def _change_entry(change: Change) -> dict[str, str | None]:
    return {
        "place": str(change.place),
        "what": change.what.value,
        "before": change.before,
        "after": change.after,
        "reason": change.reason,
    }


def entries(path: Path) -> tuple[Entry, ...]:
    """Read a journal; raises ConfigError where a line before the last is no JSON."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    found: list[Entry] = []
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


def changed(found: Iterable[Entry]) -> dict[str, tuple[Change, ...]]:
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


def meant(found: Iterable[Entry]) -> Mapping[str, str]:
    """Return place → address with mask, as the run meant it."""
    return next((entry["intent"] for entry in found if entry.get("intent")), {})


def finished(found: Sequence[Entry]) -> bool:
    """Tell whether a run made all of its plan so, or was undone since."""
    last = next((e["kind"] for e in reversed(found) if e["kind"] in (*_CLOSING, "begin", "continue")), "end")
    return last in _CLOSING


def latest(home: Path, verb: str) -> Path | None:
    """Return the newest journal of a verb that says anything, or None."""
    found = sorted((home / "journal").glob(f"*-{verb}-*.jsonl"), reverse=True)
    return next((path for path in found if path.stat().st_size), None)


def unfinished(home: Path) -> Path | None:
    """Return the journal of the last apply when it did not end as planned and was not undone, else None."""
    path = latest(home, "apply")
    return None if path is None or finished(entries(path)) else path


def _drop_cut_line(file: int) -> None:
    """Cut off what stands after the last newline: the next entry would run into it."""
    size = os.fstat(file).st_size
    tail = os.pread(file, size, 0)
    whole = tail.rfind(b"\n") + 1
    if whole < size:
        os.ftruncate(file, whole)
        os.fsync(file)


def _fsync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
