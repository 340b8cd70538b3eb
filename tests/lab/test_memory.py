"""A server's memory: where the kernel's groups are found, and which of its words reach which server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankready.lab import memory
from rankready.lab.memory import Memory
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable

CHOSEN = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/x/G,task_memcg=/x/G,task=python3,pid=7,uid=0"
KILLED = "Memory cgroup out of memory: Killed process 7 (python3) total-vm:188676kB, anon-rss:177408kB"


@pytest.fixture
def hears(tmp_path: Path) -> Callable[[str], str]:
    (tmp_path / "server2/lab").mkdir(parents=True)
    limits = Memory(lab="abc", state=tmp_path)
    limits._groups["server2"] = Path("/x/rankready-abc-server2")
    chosen: dict[str, str] = {}

    def hear(text: str) -> str:
        limits._hear(text, chosen)
        log = tmp_path / "server2/lab/dmesg"
        return log.read_text() if log.exists() else ""

    return hear


def test_a_kill_in_the_servers_own_group_stands_in_its_log(hears: Callable[[str], str]) -> None:
    hears(CHOSEN.replace("/x/G", "/x/rankready-abc-server2"))
    lines = hears(KILLED).splitlines()
    assert [line.partition(" ")[2].partition(":")[0] for line in lines] == ["oom-kill", "Memory cgroup out of memory"]


def test_a_kill_elsewhere_on_the_machine_does_not(hears: Callable[[str], str]) -> None:
    assert hears(CHOSEN.replace("/x/G", "/x/rankready-abc-server1")) == ""
    assert hears(KILLED) == ""
    assert hears("usb 1-1: new device") == ""


def test_a_machine_without_memory_groups_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("29 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n")
    monkeypatch.setattr(memory, "MOUNTS", mounts)
    with pytest.raises(LabError, match="limits memory"):
        Memory(lab="abc", state=tmp_path).limit("server2", 64, ())
    assert memory.groups("abc", 1) == ()


def test_a_unified_hierarchy_is_entered_where_children_are_limited(tmp_path: Path) -> None:
    session = tmp_path / "user.slice/session-1.scope"
    session.mkdir(parents=True)
    (session / "cgroup.subtree_control").write_text("")
    (session.parent / "cgroup.subtree_control").write_text("memory pids\n")
    assert memory._delegating(session, tmp_path) == session.parent
    (session.parent / "cgroup.subtree_control").write_text("pids\n")
    assert memory._delegating(session, tmp_path) is None


def test_commands_start_unchanged_where_nothing_is_limited(tmp_path: Path) -> None:
    assert Memory(lab="abc", state=tmp_path).words("server1", ("true",)) == ("true",)
