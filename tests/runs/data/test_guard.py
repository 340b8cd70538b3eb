"""The kill matrix: whatever happens to a job's guard, nothing of the job stays, by tag and by pid."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from guarded_job import GuardedJob, eventually
from stubborn_job import PROCESSES, alive, tagged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STUBBORN = Path(__file__).parents[2] / "support" / "stubborn_job.py"

FORKER = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(0)
    time.sleep(0.01)
"""


class Stubborn:
    """The stubborn job under a guard, with a folder of the pids that it noted."""

    def __init__(self, root: Path, **changes: object) -> None:
        self.pids = root / "pids"
        self.pids.mkdir()
        argv = [sys.executable, "-I", "-S", str(STUBBORN), str(self.pids)]
        self.guarded = GuardedJob(root / "home", [argv], **changes)

    def start(self) -> None:
        assert self.guarded.start()["event"] == "ready"
        assert eventually(lambda: len(alive(self.pids)) == PROCESSES)

    def left(self) -> list[int]:
        guards = [self.guarded.state[who][0] for who in ("guard", "guardian")]
        return [
            *alive(self.pids),
            *tagged(self.guarded.job),
            *(p for p in guards if Path(f"/proc/{p}/cmdline").exists()),
        ]


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[Callable[..., Stubborn]]:
    made: list[Stubborn] = []

    def make(**changes: object) -> Stubborn:
        made.append(Stubborn(tmp_path, **changes))
        made[-1].start()
        return made[-1]

    yield make
    for one in made:
        one.guarded.end()
        for pid in alive(one.pids):  # what wiped its environment and lost both guards: ours, by pid and start time
            os.kill(pid, signal.SIGKILL)


def test_the_job_is_there_before_anything_happens(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn()
    assert len(alive(job.pids)) == PROCESSES
    assert len(tagged(job.guarded.job)) >= PROCESSES - 2  # two wiped their environment


def test_stop_leaves_nothing(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn()
    said = job.guarded.ask("stop", str(job.guarded.folder), "1")
    assert (said["phase"], said["cause"], said["left"]) == ("ended", "stop", [])
    assert eventually(lambda: not job.left())


@pytest.mark.parametrize(("who", "cause"), [("guard", "guard_died"), ("guardian", "guardian_died")])
def test_kill_of_either_leaves_nothing(stubborn: Callable[..., Stubborn], who: str, cause: str) -> None:
    job = stubborn()
    job.guarded.kill(who)
    assert eventually(lambda: not job.left())
    assert job.guarded.ended is not None
    assert job.guarded.ended["cause"] == cause


def test_kill_of_both_leaves_what_a_sweep_ends(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn()
    job.guarded.kill("guard")
    job.guarded.kill("guardian")
    said = job.guarded.ask("sweep", job.guarded.job)
    assert said["left"] == []
    assert eventually(lambda: not tagged(job.guarded.job))


def test_a_lease_that_nobody_renews_ends_the_job(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn(lease_s=2)
    assert eventually(lambda: not job.left())
    assert job.guarded.ended is not None
    assert job.guarded.ended["cause"] == "lease"


def test_beats_keep_the_lease_and_the_end_of_the_watch_ends_the_job(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn(lease_s=2)
    watch = job.guarded.watch()
    assert watch.stdin is not None

    def beat() -> bool:
        assert watch.stdin is not None
        watch.stdin.write(b".\n")
        return False

    assert not eventually(beat, within_s=3.0)  # longer than the lease
    assert job.guarded.ended is None
    watch.kill()
    watch.communicate()
    assert eventually(lambda: not job.left())
    assert job.guarded.ended is not None


def test_term_to_the_guardian_is_an_orderly_end(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn()
    os.kill(job.guarded.state["guardian"][0], signal.SIGTERM)
    assert eventually(lambda: not job.left())
    assert job.guarded.ended is not None
    assert job.guarded.ended["cause"] == "term"


def test_processes_that_fork_without_end_are_ended(tmp_path: Path) -> None:
    guarded = GuardedJob(tmp_path, [[sys.executable, "-I", "-S", "-c", FORKER]] * 2)
    try:
        guarded.start()
        assert eventually(lambda: len(tagged(guarded.job)) > 10)
        said = guarded.ask("stop", str(guarded.folder), "0")
        assert said["left"] == []
        assert eventually(lambda: not tagged(guarded.job))
    finally:
        guarded.end()


def test_a_failed_rank_ends_its_server_when_nobody_says_otherwise(tmp_path: Path) -> None:
    guarded = GuardedJob(tmp_path, [["sh", "-c", "exit 3"], ["sleep", "600"]], fail_hold_s=0.3)
    try:
        guarded.start()
        assert eventually(lambda: guarded.ended is not None)
        assert guarded.ended is not None
        assert guarded.ended["cause"] == "rank_failed"
        assert [r["exit"] for r in guarded.ended["ranks"]] == [3, None]
    finally:
        guarded.end()


def test_a_failed_rank_is_reported_and_the_others_go_on_while_the_controller_decides(tmp_path: Path) -> None:
    guarded = GuardedJob(tmp_path, [["sh", "-c", "exit 3"], ["sleep", "600"]])
    try:
        guarded.start()
        assert eventually(lambda: '"exited"' in (guarded.folder / "events").read_text())
        assert guarded.ended is None
        assert len(tagged(guarded.job)) == 1
    finally:
        guarded.end()
