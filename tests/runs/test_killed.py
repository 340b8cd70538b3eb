"""How a rank ended: a KILL of the kernel's is told from somebody's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from train_site import train_site

from rankready.model.job import RankEnd
from rankready.runs.killed import how_it_ended

if TYPE_CHECKING:
    from pathlib import Path

OOM = "[99999999.12] Out of memory: Killed process 4711 (python3) total-vm:1kB, anon-rss:1kB"
CGROUP = "[99999999.12] Memory cgroup out of memory: Killed process 4711 (python3) total-vm:1kB"
LONG_AGO = "[    1.12] Out of memory: Killed process 4712 (python3) total-vm:1kB"


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    return tools / "dmesg"


def says(kernel: Path, text: str) -> None:
    kernel.write_text(f"#!/bin/sh\n{text}\n")
    kernel.chmod(0o755)


async def told(tmp_path: Path, *, pid: int | None = 4711, **changes: int | None) -> str:
    site, _, _ = train_site(tmp_path, servers=1)
    end = RankEnd(server="server1", rank=0, local_rank=0, started=1.0, ended=5.0, **changes)
    return (await how_it_ended(site, end, pid)).en


async def test_an_exit_and_another_signal_ask_nobody(tmp_path: Path, kernel: Path) -> None:
    says(kernel, f"echo '{OOM}'")
    assert await told(tmp_path, exit=3) == "exit 3"
    assert await told(tmp_path, signal=11) == "signal 11 (SIGSEGV)"


@pytest.mark.parametrize("line", [OOM, CGROUP])
async def test_the_kernels_own_kill_is_named_by_pid(tmp_path: Path, kernel: Path, line: str) -> None:
    says(kernel, f"echo '{line}'")
    assert "killed by the kernel for lack of memory" in await told(tmp_path, signal=9)


async def test_another_pid_in_the_jobs_time_is_only_perhaps(tmp_path: Path, kernel: Path) -> None:
    says(kernel, f"echo '{OOM}'")
    assert "perhaps for lack of memory" in await told(tmp_path, signal=9, pid=12)


async def test_a_kill_that_the_kernel_does_not_know_was_somebody_elses(tmp_path: Path, kernel: Path) -> None:
    says(kernel, f"echo '{LONG_AGO}'; echo '[99999999.1] link up'")
    assert "sent by somebody else" in await told(tmp_path, signal=9)


async def test_the_kernels_count_settles_what_its_log_leaves_open(tmp_path: Path, kernel: Path) -> None:
    says(kernel, f"echo '{OOM}'")
    assert "killed by the kernel for lack of memory (1 such" in await told(tmp_path, signal=9, pid=12, oom=1)
    says(kernel, "exit 1")
    assert "killed by the kernel for lack of memory (2 such" in await told(tmp_path, signal=9, oom=2)
    assert "sent by somebody else" in await told(tmp_path, signal=9, oom=0)


async def test_a_rank_that_lost_a_child_to_the_kernel_says_so(tmp_path: Path, kernel: Path) -> None:
    says(kernel, "exit 1")
    found = await told(tmp_path, exit=1, oom=1)
    assert found == "exit 1; just before, the kernel killed 1 process(es) of server1 for lack of memory"
    assert await told(tmp_path, exit=1, oom=0) == "exit 1"


async def test_a_log_that_can_not_be_read_leaves_it_open(tmp_path: Path, kernel: Path) -> None:
    says(kernel, "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1")
    found = await told(tmp_path, signal=9)
    assert "is not known" in found
    assert "Operation not permitted" in found
