from __future__ import annotations

import os
import signal
import subprocess
import uuid
from typing import TYPE_CHECKING

import pytest
from lab_up import eventually

from rankready.lab import sweep
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def lab() -> Iterator[str]:
    name = uuid.uuid4().hex
    yield name
    sweep.end_tagged(name)


def _start(lab: str, script: str = "exec sleep 600") -> subprocess.Popen[bytes]:
    return subprocess.Popen(("sh", "-c", script), env={**os.environ, sweep.TAG: lab})


def test_tagged_processes_are_found_and_ended_with_their_children(lab: str) -> None:
    process = _start(lab, "trap '' TERM; setsid sleep 600 & sleep 600")
    eventually(lambda: len(sweep.tagged(lab)) == 3, "three processes")
    sweep.end_tagged(lab)
    assert sweep.tagged(lab) == set()
    assert process.wait() == -signal.SIGKILL


def test_a_tag_must_be_exact(lab: str) -> None:
    process = _start(f"{lab}x")
    assert sweep.tagged(lab) == set()
    assert {p.pid for p in sweep.tagged(f"{lab}x")} == {process.pid}
    sweep.end_tagged(f"{lab}x")
    process.wait()


def test_a_zombie_is_not_alive_and_a_reused_pid_is_another(lab: str) -> None:
    process = _start(lab)
    found = sweep.find(process.pid)
    assert found is not None
    assert sweep.alive(found)
    assert not sweep.alive(sweep.Process(found.pid, found.started + 1))
    process.kill()
    eventually(lambda: not sweep.alive(found), "zombie counted as dead")
    process.wait()
    assert sweep.find(process.pid) is None


def test_nothing_is_signalled_that_is_not_meant(lab: str) -> None:
    process = _start(lab)
    found = sweep.find(process.pid)
    assert found is not None
    sweep.send([sweep.Process(found.pid, found.started + 1)], signal.SIGKILL)
    assert process.poll() is None
    process.kill()
    process.wait()


def test_descendants_are_found_and_survivors_named(lab: str) -> None:
    process = _start(lab, "sleep 600 & sleep 600")
    eventually(lambda: len(sweep.below(process.pid)) == 3, "a shell and two sleeps")
    with pytest.raises(LabError, match=f"still alive after 0.1 s: .*{process.pid}"):
        sweep.wait_gone(sweep.below(process.pid), 0.1)
    sweep.end_tagged(lab)
    process.wait()
