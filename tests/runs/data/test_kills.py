"""The kernel's counts of what it killed for lack of memory, as any user may read them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rankready.runs.data.kills import Kills, count_in, own_paths

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_count_is_read_by_its_whole_name(tmp_path: Path) -> None:
    file = tmp_path / "vmstat"
    file.write_text("nr_free_pages 12\noom_kill_disable 0\noom_kill 7\nother 1\n")
    assert count_in(file) == 7


def test_an_old_kernel_or_another_text_gives_no_count(tmp_path: Path) -> None:
    file = tmp_path / "vmstat"
    file.write_text("oom_kill_disable 0\n")
    assert count_in(file) is None
    file.write_text("oom_kill many\n")
    assert count_in(file) is None
    assert count_in(tmp_path / "nothing") is None


def test_what_rose_lately_is_told_for_each_count_that_there_is(tmp_path: Path) -> None:
    server, group = tmp_path / "vmstat", tmp_path / "memory.events"
    server.write_text("oom_kill 3\n")
    group.write_text("oom 0\noom_kill 0\n")
    seen = Kills(server, group)
    assert seen.lately() == {"server": 0, "group": 0}
    server.write_text("oom_kill 5\n")
    group.write_text("oom 9\noom_kill 1\n")
    assert seen.lately() == {"server": 2, "group": 1}
    group.unlink()
    assert seen.lately() == {"server": 2}


def test_what_is_long_past_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    server = tmp_path / "vmstat"
    server.write_text("oom_kill 0\n")
    seen = Kills(server, tmp_path / "none")
    server.write_text("oom_kill 1\n")
    for _ in range(8):
        now[0] += 1.0
        seen.look()
    assert seen.lately() == {"server": 1}
    for _ in range(4):
        now[0] += 1.0
        seen.look()
    assert seen.lately() == {"server": 0}


def test_both_hierarchies_tell_the_own_group() -> None:
    assert own_paths("5:cpu:/a\n4:memory:/job/1\n0::/job/2\n") == [("memory", "/job/1"), ("", "/job/2")]
    assert own_paths("3:cpu,memory:/x\n1:name=systemd:/y\n") == [("memory", "/x")]
