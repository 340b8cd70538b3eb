"""The journal is on the disk before the change; the lock says who holds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from rankready.model.addressing import DeviceAddressing
from rankready.model.change import Change, What
from rankready.model.errors import ConfigError, Locked, RankreadyError
from rankready.model.place import device_place
from rankready.runs.journal import Journal, changed, entries, latest, meant, unfinished
from rankready.runs.lock import held

PLACE = device_place("server1", 3)
CHANGE = Change(place=PLACE, what=What.ADDRESS, before="10.0.0.1/24", after="10.0.0.2/24", reason="planned")


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


def test_what_is_written_after_a_cut_line_does_not_run_into_it(tmp_path: Path) -> None:
    journal = Journal.begin(tmp_path, "apply")
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes() + b'{"kind": "cha')
    Journal.again(journal.path).changes("server1", [CHANGE])
    assert [e["kind"] for e in entries(journal.path)] == ["begin", "continue", "change"]


def test_an_apply_is_open_until_its_end_and_again_when_it_is_continued(tmp_path: Path) -> None:
    assert unfinished(tmp_path) is None
    journal = Journal.begin(tmp_path, "apply", {PLACE: DeviceAddressing(interface=IPv4Interface("10.0.0.2/24"))})
    assert unfinished(tmp_path) == journal.path
    assert meant(entries(journal.path)) == {"server1/3": "10.0.0.2/24"}
    journal.write("end")
    assert unfinished(tmp_path) is None
    Journal.again(journal.path).write("failed", server="server1", words=[])
    assert unfinished(tmp_path) == journal.path
    journal.write("undone")
    assert unfinished(tmp_path) is None


def test_an_empty_journal_hides_no_earlier_one(tmp_path: Path) -> None:
    journal = Journal.begin(tmp_path, "apply")
    (tmp_path / "journal/9999-apply-1.jsonl").touch()
    assert latest(tmp_path, "apply") == journal.path


def test_a_disk_that_refuses_stops_everything(tmp_path: Path) -> None:
    journal = Journal(Path("/dev/full"))
    with pytest.raises(RankreadyError, match="No space left on device; nothing is changed that is not journalled"):
        journal.write("begin")
    (tmp_path / "journal").write_text("a file")
    with pytest.raises(RankreadyError):
        Journal.begin(tmp_path, "apply")


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
