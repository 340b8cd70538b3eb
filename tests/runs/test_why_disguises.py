"""Folders that came another way, or that other jobs' logs stand beside: who did not fail is never blamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from log_cases import wrong
from log_disguises import DISGUISES, SetBack, SetForward
from log_guise_stories import STORIES
from log_guises import GUISES, Job

from rankready.diagnose.clock import goes_back
from rankready.diagnose.starts import chosen_start, next_start
from rankready.runs.why import explain_folder

if TYPE_CHECKING:
    from pathlib import Path

NAMES = tuple(GUISES)
GUESS_S = 130
# there the cause may be out of sight, or its traceback be cut in two; in all others it is to be found
LESS = ("only_plogs", "only_output", "rotated_outputs", "packed_rotation")
TELLING = (
    "oom_in_a_container",
    "npu_memory",
    "key_error",
    "aicore",
    "aicpu",
    "port_falls",
    "stands_still",
    "two_faults",
)
TOLD = [(d, s, NAMES[(n + m + 1) % len(NAMES)]) for m, d in enumerate(DISGUISES) for n, s in enumerate(TELLING)]


def played(folder: Path, story: str, guise: str, kind: type[Job] = Job) -> tuple[Job, dict[str, Any]]:
    job = kind(folder / "bundle", GUISES[guise])
    truth = STORIES[story](job)
    job.write()
    truth["tolerance_s"] += 0 if job.guise.measured else GUESS_S
    return job, truth


def blamed_wrongly(found: dict[str, Any], truth: dict[str, Any]) -> bool:
    """A place that is not the true one; a whole server of which nothing was read may be meant by its name."""
    if found["cause"] is None:
        return bool(found["outcome"] == "none")
    ranks = set(truth["root"].get("ranks") or ())
    elsewhere = not set(found["cause"]["servers"]) <= set(truth["root"]["hosts"])
    named = set(found["cause"]["ranks"] or ())
    return elsewhere or (bool(ranks) and found["cause"]["sign"] != "host_silent" and not named <= ranks)


@pytest.mark.parametrize(("disguise", "story", "guise"), TOLD)
def test_a_folder_in_disguise_blames_nobody_else(disguise: str, story: str, guise: str, tmp_path: Path) -> None:
    job, truth = played(tmp_path, story, guise)
    DISGUISES[disguise](job.root, job.guise)
    found = explain_folder(job.root)
    assert not blamed_wrongly(found, truth), found["cause"]
    if disguise not in LESS:
        assert wrong(found, truth) == []


@pytest.mark.parametrize("kind", [SetForward, SetBack])
@pytest.mark.parametrize("story", TELLING)
def test_a_clock_that_is_set_in_mid_job_blames_nobody_else(story: str, kind: type[Job], tmp_path: Path) -> None:
    for guise in (NAMES[0], NAMES[1]):
        job, truth = played(tmp_path / guise, story, guise, kind)
        assert not blamed_wrongly(explain_folder(job.root), truth)


def test_a_clock_that_was_set_back_is_told(tmp_path: Path) -> None:
    job, _ = played(tmp_path, "two_faults", NAMES[1], SetBack)
    found = explain_folder(job.root)
    assert any("was set back" in n.en and "gpu-c" in n.en for n in found["notes"])
    job, _ = played(tmp_path / "b", "two_faults", NAMES[1])
    assert not any("was set back" in n.en for n in explain_folder(job.root)["notes"])


@pytest.mark.parametrize(("moments", "back"), [
    ([], False), ([5.0], False), ([5.0, 5.0, 9.0], False), ([100.0, 99.0, 101.0], False), ([100.0, 30.0, 31.0], True),
])  # fmt: skip
def test_lines_that_only_change_places_are_no_sign_of_a_clock_that_was_set(moments: list[float], back: bool) -> None:  # noqa: FBT001  (a row)
    assert goes_back(moments) == back


@pytest.mark.parametrize(("stamps", "expected", "start"), [
    ([[0.0], [1.0], [2.0]], 500.0, 2.0),  # a clock that is far off has one start only
    ([[0.0, 7000.0], [1.0, 7001.0]], 6990.0, 7000.0),
    ([[0.0, 7000.0], [1.0, 7001.0]], -5.0, 0.0),
    ([[0.0, 7000.0], [1.0], [2.0]], 6990.0, 2.0),  # one process's rotated log is no start of the job
    ([[0.0, 7000.0], [1.0, 7001.0]], None, 0.5),
])  # fmt: skip
def test_of_several_starts_the_one_next_to_the_jobs_own_counts(
    stamps: list[list[float]], expected: float | None, start: float
) -> None:
    assert chosen_start(stamps, expected) == start


@pytest.mark.parametrize(("logs", "found"), [
    ([[(0.0, "run"), (0.1, "debug")]], None),
    ([[(0.0, "run"), (0.1, "debug"), (7000.0, "run"), (7001.0, "debug")]], 6995.0),
    ([[(0.0, "run"), (0.1, "debug"), (7000.0, "run"), (7900.0, "debug")]], None),  # rotated, each part by itself
    ([[(0.0, "run"), (0.1, "debug"), (7000.0, "run"), (7001.0, "debug")], [(0.0, "run")], [(0.0, "run")]], None),
])  # fmt: skip
def test_most_processes_open_both_logs_anew_where_a_later_job_began(
    logs: list[list[tuple[float, str]]], found: float | None
) -> None:
    assert next_start(logs, 0.0) == found
