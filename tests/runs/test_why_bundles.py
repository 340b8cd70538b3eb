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
@pytest.mark.parametrize("name", FAULTY)
def test_a_wrong_clock_changes_nothing(name: str, seconds: int, told: str, tmp_path: Path) -> None:
    if told == "measured wrongly" and name in NO_ANCHOR:
        pytest.skip("a wrong measurement can't be told from a late start here")
    folder = unpacked(name, tmp_path)
    host = random.Random(f"{name}{seconds}{told}").choice(sorted(p.name for p in folder.iterdir() if p.is_dir()))  # noqa: S311  (a choice, no secret)
    offset = {"measured": float(seconds), "not measured": None, "measured wrongly": 0.0}[told]
    shift_clock(folder, host, seconds, told=offset)
    assert wrong(explain_folder(folder), truth_of(name)) == []


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


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_files_does_not_matter(name: str, tmp_path: Path) -> None:
    folder = unpacked(name, tmp_path)
    first = explain_folder(folder)
    for path in sorted(folder.iterdir(), reverse=True):
        if path.is_dir():
            moved = path.with_name(f"{path.name}.moved")
            shutil.copytree(path, moved)
            shutil.rmtree(path)
            moved.rename(path)
    assert explain_folder(folder)["cause"] == first["cause"]


@pytest.mark.parametrize("name", FAULTY)
def test_without_the_launchers_record_the_place_is_still_right_or_unknown(name: str, tmp_path: Path) -> None:
    truth = truth_of(name)
    folder = unpacked(name, tmp_path)
    (folder / "job.json").unlink()
    found = explain_folder(folder)
    assert found["outcome"] != "none"
    if found["cause"]:
        assert set(found["cause"]["servers"]) <= set(truth["root"]["hosts"])
