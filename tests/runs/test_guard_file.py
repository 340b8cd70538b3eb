from __future__ import annotations

import subprocess
import sys

import pytest

from rankready.model.errors import Unreadable
from rankready.runs import guard_file


def test_the_guard_is_one_python_file_that_needs_no_other() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-", "port", "N1", "1", "0"],
        input=guard_file.guard_file(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert guard_file.read_answer(done.stdout, "N1") == {"event": "port", "port": 1, "listens": False}


def test_noise_of_login_files_is_passed_over() -> None:
    out = b'Welcome!\nN1x {"a": 1}\nN1 not json\nN1 [1]\nN1 {"a": 2}\n'
    assert guard_file.read_answer(out, "N1") == {"a": 2}


def test_no_answer_is_unreadable_and_shows_what_came() -> None:
    with pytest.raises(Unreadable, match="python3: not found"):
        guard_file.read_answer(b"sh: 1: python3: not found\n", "N1")


@pytest.mark.parametrize("job", ["", "a", "../etc", "job; rm -rf", "JOB-12345", "-abcd", "a b c d", "job\n1234"])
def test_what_is_no_job_id_never_reaches_a_shell(job: str) -> None:
    with pytest.raises(ValueError, match="no job id"):
        guard_file.folder_of(job)


def test_offsets_name_only_logs() -> None:
    command = guard_file.watch_command("job-1234", "N1", {"train/rank-0.log": 5, "x'; reboot; '": 3})
    assert command.endswith("train/rank-0.log:5'")
    assert "reboot" not in command
