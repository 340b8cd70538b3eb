"""What stood on the firewalls before a change and how to put it back: on the disk before the change is made."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankready.model.errors import ConfigError, Mistake
from rankready.runs.firewall_steps import unpacked
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankready.model.command import Command
    from rankready.runs.firewall_steps import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change of firewalls. ``state``: begun, done or restored."""

    path: Path
    action: str
    at: str
    state: str
    before: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...]

    def marked(self, state: str) -> Entry:
        """Write another state and return the entry that stands now."""
        changed = replace(self, state=state)
        _write(changed)
        return changed

    def undo(self) -> dict[str, tuple[Command, ...]]:
        """Return each server's way back, last step first; raises ConfigError when the file was tampered with."""
        back: dict[str, list[Command]] = {}
        try:
            for step in reversed(self.steps):
                back.setdefault(str(step["server"]), []).append(unpacked(step["undo"]))
        except (KeyError, TypeError, ValueError):
            raise _broken(self.path) from None
        return {server: tuple(commands) for server, commands in back.items()}


def begin(home: Path, action: str, before: Mapping[str, Any], steps: Sequence[Step]) -> Entry:
    """Write down what is about to be done; it is on the disk when this returns."""
    at = now_utc()
    stem = at.replace(":", "").replace("+0000", "Z")
    path = home / "journal" / f"firewall-{stem}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = Entry(path=path, action=action, at=at, state="begun", before=before, steps=tuple(s.json() for s in steps))
    _write(entry)
    return entry


def _write(entry: Entry) -> None:
    body = {
        "version": 1,
        "action": entry.action,
        "at": entry.at,
        "state": entry.state,
        "before": entry.before,
        "steps": list(entry.steps),
    }
    new = entry.path.with_suffix(".new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(handle, json.dumps(body, ensure_ascii=False, indent=1).encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    new.replace(entry.path)
    folder = os.open(entry.path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def latest(home: Path) -> Entry | None:
    """Return the newest change that was not put back yet; raises ConfigError for a file that is no journal."""
    for path in sorted((home / "journal").glob("firewall-*.json"), reverse=True):
        entry = _read(path)
        if entry.state != "restored":
            return entry
    return None


def _read(path: Path) -> Entry:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        return Entry(
            path=path,
            action=str(body["action"]),
            at=str(body["at"]),
            state=str(body["state"]),
            before=dict(body["before"]),
            steps=tuple(body["steps"]),
        )
    except (ValueError, KeyError, TypeError):
        raise _broken(path) from None


def _broken(path: Path) -> ConfigError:
    mistake = Mistake(file=str(path), line=None, path="journal", seen="something else", expected="a firewall journal")
    return ConfigError((mistake,))
