"""The journal is on the disk before the change; the lock says who holds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from rankready.model.change import Change, What
from rankready.model.errors import ConfigError, Locked
from rankready.model.place import device_place
from rankready.runs.journal import Journal, changed, entries, latest
from rankready.runs.lock import held

if TYPE_CHECKING:
    from pathlib import Path

CHANGE = Change(
    place=device_place("server1", 3), what=What.ADDRESS, before="10.0.0.1/24", after="10.0.0.2/24", reason="planned"
)


def test_what_was_announced_is_read_back_as_it_was(tmp_path: Path) -> None:
    journal = Journal.begin(tmp_path, "apply")
    journal.write("conf", server="server1", text="address_3=10.0.0.1\n")
    journal.changes("server1", [CHANGE])
    found = entries(journal.path)
    assert [e["kind"] for e in found] == ["begin", "conf", "change"]
    assert changed(found) == {"server1": (CHANGE,)}
    assert latest(tmp_path, "apply") == journal.path
    assert latest(tmp_path, "undo") is None


def test_a_line_cut_by_a_crash_is_passed_over_but_only_the_last(tmp_path: Path) -> None:
    journal = Journal.begin(tmp_path, "apply")
    journal.changes("server1", [CHANGE])
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"kind": "cha')
    assert changed(entries(journal.path)) == {"server1": (CHANGE,)}
    journal.path.write_bytes(b'{"kind": "cha\n' + whole)
    with pytest.raises(ConfigError, match="one JSON object a line"):
        entries(journal.path)


def test_a_second_operator_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with (
        held(tmp_path, "apply"),
        pytest.raises(Locked, match=rf"process {os.getpid()}\) .* with apply since"),
        held(tmp_path, "undo"),
    ):
        pytest.fail("two at once")
    with held(tmp_path, "undo"):
        assert json.loads((tmp_path / "lock").read_text())["verb"] == "undo"


def test_a_dead_holder_holds_nothing(tmp_path: Path) -> None:
    code = (
        "import os, pathlib; from rankready.runs.lock import held; "
        f"h = held(pathlib.Path({str(tmp_path)!r}), 'apply'); h.__enter__(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    with held(tmp_path, "undo"):
        assert "undo" in (tmp_path / "lock").read_text()
