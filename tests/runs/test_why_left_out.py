"""What `why` leaves out of a folder is told: files that this user may not read, and what an earlier try left."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from log_bundles import Bundle
from log_stories import STORIES

from rankready.runs.why import exit_of, explain_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that any user may reach; pytest's own are its owner's alone."""
    made = Path(tempfile.mkdtemp(prefix="rankready-test-"))
    made.chmod(0o755)
    try:
        yield made
    finally:
        for path in made.rglob("*"):
            path.chmod(0o755)
        shutil.rmtree(made)


def as_a_plain_user(folder: Path) -> dict[str, Any]:
    """Read the folder in a child process without root's right to read everything; a forked one has all modules."""
    explain_folder(folder)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            found = explain_folder(folder)
            seen = {"outcome": found["outcome"], "not_checked": found["not_checked"], "exit": exit_of(found)}
            os.write(writer, json.dumps(seen).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read()
    os.waitpid(child, 0)
    assert answer, "the child raised"
    told: dict[str, Any] = json.loads(answer)
    return told


def healthy(folder: Path) -> Path:
    bundle = Bundle(folder)
    STORIES["healthy"](bundle)
    return bundle.write()


def about(told: dict[str, Any], name: str) -> list[str]:
    return [n for n in told["not_checked"] if name in n]


def test_a_folder_that_may_be_read_has_nothing_untold(folder: Path) -> None:
    healthy(folder)
    told = as_a_plain_user(folder)
    assert (told["outcome"], told["exit"]) == ("none", 0)
    assert not about(told, "not readable")


def test_a_ranks_log_that_may_not_be_read_is_told_and_nothing_is_called_well(folder: Path) -> None:
    healthy(folder)
    for path in folder.rglob("rank-1.log"):
        path.chmod(0)
    for path in folder.rglob("plog-30009_*"):
        path.chmod(0)
    told = as_a_plain_user(folder)
    assert about(told, "n11: train/rank-1.log: not readable: Permission denied")
    assert about(told, "n11: ascend/log/run/plog/plog-30009_")
    assert about(told, "rank 1: no log")
    assert told["exit"] == 3


@pytest.mark.parametrize(("inside", "mode", "told_as"), [
    ("n12", 0o000, "n12: everything: not readable"),
    ("n12", 0o644, "n12: everything: not readable"),
    ("n12/train", 0o644, "n12: train: not readable"),
    ("n12/ascend/log/debug", 0o000, "n12: ascend/log/debug: not readable"),
    ("job.json", 0o000, "job.json: not readable"),
])  # fmt: skip
def test_a_folder_that_is_closed_is_told(inside: str, mode: int, told_as: str, folder: Path) -> None:
    healthy(folder)
    (folder / inside).chmod(mode)
    told = as_a_plain_user(folder)
    (folder / inside).chmod(0o755)
    assert told_as in told["not_checked"]


def test_many_files_that_may_not_be_read_are_counted(folder: Path) -> None:
    healthy(folder)
    for n in range(30):
        path = folder / "n12/ascend/log/debug/plog" / f"plog-{40000 + n}_20251203140000000.log"
        path.write_text("x\n")
        path.chmod(0)
    told = as_a_plain_user(folder)
    assert len(about(told, "not readable")) == 20
    assert about(told, "n12: 10 more files not whole")
