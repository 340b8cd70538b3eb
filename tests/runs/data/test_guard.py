"""The kill matrix: whatever happens to a job's guard, nothing of the job stays, by tag and by pid."""

from __future__ import annotations

import base64
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from guarded_job import GuardedJob, eventually
from stubborn_job import PROCESSES, alive, tagged

from rankready.runs.data.guard import trim

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
    assert len(tagged(job.guarded.job)) >= PROCESSES - 4  # two daemons wiped their environment, and their children's


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


REPEATS = 100 if os.environ.get("RANKREADY_LONG") else 2


@pytest.mark.timeout(60 + 30 * REPEATS)
@pytest.mark.parametrize("number", range(REPEATS))
def test_kill_of_both_leaves_nothing_after_a_sweep(stubborn: Callable[..., Stubborn], number: int) -> None:
    """Daemons without environment, output and parent are known by the guard's list of members alone."""
    job = stubborn()
    assert eventually(lambda: set(map(str, alive(job.pids))) <= set(job.guarded.state["registry"]), within_s=10)
    guards = [job.guarded.state[who][0] for who in ("guard", "guardian")]
    for pid in guards:
        os.kill(pid, signal.SIGSTOP)  # neither may notice the other's death
    for pid in guards:
        os.kill(pid, signal.SIGKILL)
    said = job.guarded.ask("sweep", job.guarded.job)
    assert said["left"] == []
    assert eventually(lambda: not job.left())


def test_a_share_that_nobody_confirms_ends_by_itself(tmp_path: Path) -> None:
    guarded = GuardedJob(tmp_path, [["sleep", "600"]], lease_s=0, start_s=0.6)
    try:
        guarded.start()
        assert guarded.ask("poll", str(guarded.folder))["phase"] == "starting"
        assert eventually(lambda: guarded.ended is not None)
        assert guarded.ended is not None
        assert guarded.ended["cause"] == "not_begun"
        assert eventually(lambda: not tagged(guarded.job))
    finally:
        guarded.end()


def test_a_confirmed_share_stays_without_anybody(tmp_path: Path) -> None:
    guarded = GuardedJob(tmp_path, [["sleep", "600"]], lease_s=0, start_s=1.5)
    try:
        guarded.start()
        watch = guarded.watch()
        assert watch.stdin is not None
        assert watch.stdout is not None
        watch.stdin.write(b"begin\n")
        assert eventually((guarded.folder / "begun").exists)
        watch.kill()
        watch.communicate()
        assert guarded.ask("poll", str(guarded.folder))["phase"] == "running"
        assert not eventually((guarded.folder / "exit").exists, within_s=2.0)  # longer than the start's lease
    finally:
        guarded.end()


LINES = """
import sys, time
for n in range(60000):
    sys.stdout.write("line %06d %s\\n" % (n, "x" * 80))
sys.stdout.flush()
time.sleep(2)
print("line 060000 last")
"""


def test_a_long_log_gives_back_its_oldest_part_and_says_so(tmp_path: Path) -> None:
    limit = 1 << 20
    guarded = GuardedJob(tmp_path, [[sys.executable, "-I", "-S", "-c", LINES]], log_limit=limit)
    try:
        guarded.start()
        assert eventually(lambda: guarded.ended is not None)
        log = (guarded.folder / "train/rank-0.log").stat()
        if log.st_blocks * 512 >= log.st_size:
            pytest.skip("this file system makes no holes")
        assert log.st_size > 5 * limit
        frames = guarded.watched()
        events = [f["event"] for f in frames if f["event"] in ("skipped", "output")]
        assert (events[0], events.count("skipped")) == ("skipped", 1)
        parts = [base64.b64decode(f["data"]) for f in frames if f["event"] == "output"]
        whole = b"".join(parts).splitlines()[1:]  # the first was cut
        numbers = [int(line.split()[1]) for line in whole]
        assert numbers == list(range(numbers[0], 60001))
    finally:
        guarded.end()


def test_who_appends_to_a_log_that_gives_back_its_oldest_part_loses_no_byte(tmp_path: Path) -> None:
    log = tmp_path / "rank-0.log"
    with log.open("ab", buffering=0) as rank:
        rank.write(b"a" * 300_000)
        trim(log, 100_000)
        rank.write(b"the end")
    found = log.read_bytes()
    assert len(found) == 300_007
    assert found[-100:] == b"a" * 93 + b"the end"
    before = (log.stat().st_blocks, found)
    trim(log, 400_000)
    assert (log.stat().st_blocks, log.read_bytes()) == before


def test_a_lease_that_nobody_renews_ends_the_job(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn(lease_s=2)
    assert eventually(lambda: not job.left())
    assert job.guarded.ended is not None
    assert job.guarded.ended["cause"] == "lease"


def test_beats_keep_the_lease_and_the_end_of_the_watch_ends_the_job(stubborn: Callable[..., Stubborn]) -> None:
    job = stubborn(lease_s=1)
    watch = job.guarded.watch()
    assert watch.stdin is not None

    def beat() -> bool:
        assert watch.stdin is not None
        watch.stdin.write(b".\n")
        return False

    assert not eventually(beat, within_s=1.6)  # longer than the lease
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
