from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from some_records import PLACES, RECORDS, busy, many, record

from rankready.model.errors import ConfigError
from rankready.model.place import Place, PlaceKind, cluster_place, device_place, port_place, server_place
from rankready.records._places import read_place, write_place
from rankready.records.store import latest, paths, read, write

if TYPE_CHECKING:
    from rankready.model.record import Record


@given(RECORDS)
@settings(max_examples=60)
def test_what_is_written_reads_back_the_same(value: Record) -> None:
    with TemporaryDirectory() as folder:
        assert read(write(value, Path(folder))) == value


@given(PLACES)
def test_a_place_reads_back_as_the_same_place(place: Place) -> None:
    text = write_place(place)
    if place.kind is PlaceKind.PORT and not place.port:
        return  # no such port: nothing stands behind the slash
    assert read_place(text) == place


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (server_place("server2"), "server2"),
        (device_place("server2", 3), "server2/3"),
        (port_place("leaf1", "GE1/0/3"), "leaf1/GE1/0/3"),
        (port_place("leaf1", "3"), "port:leaf1/3"),
        (cluster_place("lab"), "cluster:lab"),
        (Place(PlaceKind.LEAF, "leaf1"), "leaf:leaf1"),
        (server_place("a/b"), "server:a%2Fb"),
    ],
)
def test_a_place_is_written_as_users_type_it_where_that_is_enough(place: Place, text: str) -> None:
    assert write_place(place) == text
    assert read_place(text) == place


def test_a_record_lies_below_home_and_is_nobody_elses(tmp_path: Path) -> None:
    path = write(many(3), tmp_path / ".rankready")
    assert path == tmp_path / ".rankready/records/20261130T175500123000Z-check.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_two_runs_of_one_moment_keep_both_records(tmp_path: Path) -> None:
    first = write(many(1), tmp_path)
    second = write(many(2), tmp_path)
    assert first != second
    assert len(read(first).verdicts) < len(read(second).verdicts)


def test_the_latest_is_the_newest_of_its_verb(tmp_path: Path) -> None:
    assert latest(tmp_path) is None
    old = write(record(started="2026-11-30T10:00:00+00:00"), tmp_path)
    new = write(record(started="2026-11-30T12:00:00+02:00", verb="mesh"), tmp_path)
    newest = write(record(started="2026-11-30T10:00:01+00:00", verb="why"), tmp_path)
    assert latest(tmp_path) == newest
    assert latest(tmp_path, "check") == old
    assert latest(tmp_path, "mesh") == new
    assert latest(tmp_path, "run") is None
    assert paths(tmp_path, "check") == (old,)


def test_a_verb_cannot_leave_the_folder(tmp_path: Path) -> None:
    path = write(record(verb="../../lab fault"), tmp_path)
    assert path.parent == tmp_path / "records"
    assert latest(tmp_path, "../../lab fault") == path


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"unknown": 1},
        {"exit": "1"},
        {"verdicts": [{"code": "x", "place": "a", "outcome": "great"}]},
        {"verdicts": [{"code": "x", "place": "spoon:a", "outcome": "pass"}]},
        {"verdicts": [{"code": "x", "place": "device:a/b", "outcome": "pass"}]},
    ],
    ids=lambda c: next(iter(c)),
)
def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = write(many(1), tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ConfigError, match=path.name):
        read(path)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"\xff\xfe", b"[]", b"[" * 100000], ids=["empty", "cut", "bytes", "list", "deep"]
)
def test_what_is_no_json_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=r"x\.json"):
        read(path)


def test_a_missing_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        read(tmp_path / "none.json")


def test_parts_of_any_kind_become_plain(tmp_path: Path) -> None:
    value = replace(
        busy(2), extra={"place": device_place("s", 1), "path": Path("/x"), "set": {2, 1}, "nan": float("nan")}
    )
    assert read(write(value, tmp_path)).extra == {"place": "s/1", "path": "/x", "set": [1, 2], "nan": None}
