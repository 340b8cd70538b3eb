"""Recorded bundles with known answers, and the same bundles changed in ways that must not matter."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING

import pytest
from log_cases import NAMES, truth_of, unpacked, wrong
from log_mutations import add_other_job, shift_clock

from rankready.runs.why import explain_folder

if TYPE_CHECKING:
    from pathlib import Path

FAULTY = tuple(n for n in NAMES if truth_of(n)["verdict"] != "none")
# nothing in these two jobs ties the hosts' clocks to each other: they ended before their communicator stood
NO_ANCHOR = ("05_wrong_rank_table", "09_port_in_use")


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_is_solved(name: str, tmp_path: Path) -> None:
    found = explain_folder(unpacked(name, tmp_path))
    assert wrong(found, truth_of(name)) == []
    assert len(found["evidence"]) <= 3


@pytest.mark.parametrize("name", FAULTY)
def test_evidence_is_quoted_from_the_line_that_it_names(name: str, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    found = explain_folder(folder)
    assert found["evidence"]
    for piece in found["evidence"]:
        line = (folder / piece["file"]).read_text().splitlines()[piece["line"] - 1]
        assert piece["text"][:80] in line


@pytest.mark.parametrize("told", ["measured", "not measured", "measured wrongly"])
@pytest.mark.parametrize("seconds", [600, -600])
@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize("name", [n for n in FAULTY if n not in NO_ANCHOR])
def test_a_wrong_clock_changes_nothing(*, name: str, place: int, seconds: int, told: str, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    host = sorted(p.name for p in folder.iterdir() if p.is_dir())[place]
    offset = {"measured": float(seconds), "not measured": None, "measured wrongly": 0.0}[told]
    shift_clock(folder, host, seconds, told=offset)
    assert wrong(explain_folder(folder), truth_of(name)) == []


@pytest.mark.parametrize("told", ["measured", "not measured", "measured wrongly"])
@pytest.mark.parametrize("seconds", [600, -600])
@pytest.mark.parametrize("host", ["node01", "node02"])
@pytest.mark.parametrize("name", NO_ANCHOR)
def test_where_nothing_ties_the_clocks_the_fault_is_right_and_a_doubtful_time_is_said_so(
    *, name: str, host: str, seconds: int, told: str, tmp_path: Path
) -> None:
    folder = unpacked(name, tmp_path)
    shift_clock(folder, host, seconds, told={"measured": float(seconds), "not measured": None}.get(told, 0.0))
    found = explain_folder(folder)
    bad = wrong(found, truth_of(name))
    assert [b for b in bad if not b.startswith("time")] == []
    doubted = any(host in note.en and "600 s" in note.en for note in found["notes"])
    assert not bad or (told == "measured wrongly" and doubted)


@pytest.mark.parametrize("name", NAMES)
def test_another_jobs_files_change_nothing(name: str, tmp_path: Path) -> None:
    other = "11_op_mismatch" if name != "11_op_mismatch" else "07_aicore_error"
    folder = unpacked(name, tmp_path / "a")
    add_other_job(folder, unpacked(other, tmp_path / "b"))
    assert wrong(explain_folder(folder), truth_of(name)) == []


@pytest.mark.parametrize("name", FAULTY)
def test_without_the_culprits_folder_nobody_else_is_named(name: str, tmp_path: Path) -> None:
    truth = truth_of(name)
    folder = unpacked(name, tmp_path)
    shutil.rmtree(folder / truth["root"]["hosts"][0])
    found = explain_folder(folder)
    assert found["outcome"] != "none"
    assert found["not_checked"]
    if found["outcome"] != "unknown":
        assert set(found["cause"]["servers"]) <= set(truth["root"]["hosts"])
        assert found["cause"]["certainty"] != "sure"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_files_does_not_matter(name: str, seed: int, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    first = explain_folder(folder)
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    random.Random(f"{name}{seed}").shuffle(files)  # noqa: S311  (an order, no secret)
    other = tmp_path / "other"
    for path in files:
        place = other / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    found = explain_folder(other)
    assert {k: v for k, v in found.items() if k != "folder"} == {k: v for k, v in first.items() if k != "folder"}


@pytest.mark.parametrize("name", FAULTY)
def test_without_the_launchers_record_the_place_is_still_right_or_unknown(name: str, tmp_path: Path) -> None:
    truth = truth_of(name)
    folder = unpacked(name, tmp_path)
    (folder / "job.json").unlink()
    found = explain_folder(folder)
    assert found["outcome"] != "none"
    if found["cause"]:
        assert set(found["cause"]["servers"]) <= set(truth["root"]["hosts"])
