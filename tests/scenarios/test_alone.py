"""Detached jobs that nobody is attached to: their guards end them together, on real namespaces."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from lab_stage import stage
from lab_up import eventually, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab_stage import Stage

pytestmark = pytest.mark.namespaces

SLEEPS = "import os, time\nprint('rank', os.environ['RANK'], flush=True)\ntime.sleep(600)\n"
SERVERS = ("server1", "server2")


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("lab") / "lab") as made:
        (made.lab.directory / "sleeps.py").write_text(SLEEPS)
        yield made


def detached(made: Stage, *options: str) -> tuple[str, str]:
    """Start a job of 2 x 4 ranks and leave it; its name, and what was said."""
    script = str(made.lab.directory / "sleeps.py")
    words = ("run", "--detach", "--nproc-per-node", "4", "--python", sys.executable, *options, "--json", script)
    code, said, err = made.verb(*words)
    assert code == 0, err
    return str(said["job"]), err


def kept(made: Stage, server: str, job: str, name: str) -> dict[str, Any]:
    found = json.loads(told(made.lab, server, f"cat .rankready/jobs/{job}/{name} 2>/dev/null || echo '{{}}'"))
    assert isinstance(found, dict)
    return found


def left(made: Stage, server: str, job: str) -> list[str]:
    """Processes of the job on a server, its guards included."""
    look = f"grep -lz 'RANKREADY_[A-Z]*={job}' /proc/[0-9]*/environ 2>/dev/null || true"
    return told(made.lab, server, look).split()


def over(made: Stage, job: str) -> None:
    eventually(lambda: not any(left(made, server, job) for server in SERVERS), "nothing of the job is left")


@pytest.mark.parametrize("victim", SERVERS)
def test_a_rank_that_fails_ends_every_server(standing: Stage, victim: str) -> None:
    job, err = detached(standing)
    assert "the guards watch over each other" in err
    rank = kept(standing, victim, job, "state")["ranks"][2]
    told(standing.lab, victim, f"kill -9 {rank['pid']}")
    over(standing, job)
    other = next(s for s in SERVERS if s != victim)
    assert kept(standing, victim, job, "exit")["cause"] == "rank_failed"
    assert kept(standing, other, job, "exit")["cause"] == "peer_failed"
    _, said, _ = standing.verb("ps", "--json")
    assert next(j["cause"] for j in said["jobs"] if j["job"] == job) == "rank_failed"
    code, said, _ = standing.verb("attach", "--from", "start", "--json", job)
    assert code == 1
    first = said["first_failure"]
    assert (first["server"], first["rank"], first["signal"]) == (victim, rank["rank"], 9)


@pytest.mark.parametrize("victim", SERVERS)
def test_a_guard_that_is_killed_ends_every_server(standing: Stage, victim: str) -> None:
    job, _ = detached(standing)
    told(standing.lab, victim, f"kill -9 {kept(standing, victim, job, 'state')['guard'][0]}")
    over(standing, job)


def test_a_stop_is_no_failure_and_keeps_its_grace(standing: Stage) -> None:
    job, _ = detached(standing)
    code, _, err = standing.verb("stop", "--yes", "--json", job)
    assert code == 0, err
    over(standing, job)
    assert {kept(standing, s, job, "exit")["cause"] for s in SERVERS} == {"stop"}


def test_a_lease_ends_a_job_that_nobody_comes_back_to(standing: Stage) -> None:
    job, _ = detached(standing, "--lease", "3")
    over(standing, job)
    assert {kept(standing, s, job, "exit")["cause"] for s in SERVERS} <= {"lease", "peer_failed"}
