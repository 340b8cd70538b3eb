"""Jobs that end in the lab's ways, end to end over real SSH: `run` fails, and `why` names the place and the kind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from job_ends import AT, BROKEN, ENDS

import rankready.lab
from rankready.lab import doors
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator

JOBS = Path(rankready.lab.__file__).parent / "data" / "jobs"
DOOR = Door.ROOT if os.geteuid() == 0 else Door.ROOTLESS
pytestmark = [
    pytest.mark.namespaces,
    pytest.mark.skipif(bool(doors.refusal(DOOR)), reason=f"door {DOOR}: {doors.refusal(DOOR)}"),
]


@dataclass(frozen=True)
class Stage:
    lab: Lab
    directory: Path

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "rankready", "-f", str(self.directory / "cluster.yaml"), *words]

    def job(self, *options: str) -> list[str]:
        script = str(JOBS / "hccl_train.py")
        return self.words("run", "--json", "--with", str(JOBS / "train.py"), script, "--timeout", "8", *options)

    def why(self) -> tuple[int, dict[str, Any]]:
        done = subprocess.run(self.words("why", "--json"), capture_output=True, text=True, check=False, timeout=60)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


def seen(found: dict[str, Any]) -> tuple[str, str, list[int]]:
    return found["outcome"], found["cause"]["kind"], found["cause"]["ranks"]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("why") / "lab"
    up(LabSpec(directory=directory, door=DOOR))
    lab = Lab.open(directory)
    try:
        made = Stage(lab=lab, directory=directory)
        subprocess.run(made.words("apply", "--yes"), check=True, capture_output=True, timeout=120)
        yield made
    finally:
        lab.down()


@pytest.mark.parametrize("kind", ENDS)
def test_a_job_that_ends_so_is_told_so(stage: Stage, kind: str) -> None:
    outcome, named, ranks = ENDS[kind]
    done = subprocess.run(
        stage.job("--steps", "6", "--end", kind, "--at-rank", str(AT)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    record = json.loads(done.stdout)
    assert "why" in record, (record, done.stderr)
    told = record["why"]
    assert told["cause"] is not None, told
    assert told["cause"]["kind"] == named
    code, found = stage.why()
    assert (code, found["outcome"], found["cause"]["kind"]) == (1, outcome, named)
    assert found["cause"]["ranks"] == ranks
    assert found["evidence"]
    assert not {w["rank"] for w in found["waited"]} & set(ranks)


def test_a_rank_that_takes_all_memory_is_told_by_the_kernels_own_kill(stage: Stage) -> None:
    """The kernel's log numbers the process as the machine does, not as its server; the guard's count ties the two."""
    try:
        stage.lab.fault("memory_short", ("server2",), mb="400")
    except LabError as error:
        pytest.skip(str(error))
    try:
        subprocess.run(
            stage.job("--steps", "6", "--end", "greedy", "--at-rank", "11", "--timeout", "20"),
            capture_output=True,
            check=False,
            timeout=120,
        )
    finally:
        stage.lab.heal()
    code, found = stage.why()
    assert code == 1
    assert seen(found) == BROKEN["greedy, memory_short server2"]
    assert any("Memory cgroup out of memory: Killed process" in e["text"] for e in found["evidence"])


def test_a_job_that_ends_well_has_no_fault(stage: Stage) -> None:
    subprocess.run(stage.job("--steps", "3"), check=True, capture_output=True, timeout=120)
    code, found = stage.why()
    assert (code, found["outcome"]) == (0, "none")


def test_a_link_that_is_cut_in_mid_training_is_named(stage: Stage) -> None:
    with subprocess.Popen(
        stage.job("--steps", "60", "--pause", "1"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as job:
        assert job.stderr is not None
        for line in job.stderr:
            if "step=2" in line:
                break
        stage.lab.fault("link_down", ("server2/3",))
        try:
            job.communicate(timeout=90)
        finally:
            stage.lab.heal()
    code, found = stage.why()
    assert code == 1
    assert seen(found) == BROKEN["link_down server2/3 in mid-training"]
    assert found["cause"]["devices"] == ["server2/3"]
    assert found["confirmation"]["state"] == "confirmed"  # it is up again, but its own record has the fall
