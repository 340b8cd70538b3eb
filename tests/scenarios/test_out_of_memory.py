"""A rank that the kernel kills for lack of memory, end to end: the kernel's own kill, its count, its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lab_stage import stage
from lab_up import told

from rankready.lab.spec import Door
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.namespaces, pytest.mark.root]

LIMIT_MB = 200
TRAIN = """
import os, time
held = []
time.sleep(1)
if os.environ["RANK"] == "3":
    for _ in range(100):
        held.append(bytearray(b"x") * (8 << 20))
        time.sleep(0.01)
time.sleep(60)
"""


def test_a_rank_that_takes_too_much_is_told_from_one_that_somebody_killed(tmp_path: Path) -> None:
    script = tmp_path / "greedy.py"
    script.write_text(TRAIN)
    with stage(tmp_path / "lab", door=Door.ROOT) as made:
        try:
            made.lab.fault("memory_short", ["server2"], mb=str(LIMIT_MB))
        except LabError as error:
            pytest.skip(str(error))
        code, said, err = made.verb("run", "--nproc-per-node", "2", "--json", str(script))
        first = said["first_failure"]
        assert (code, first["rank"], first["server"], first["signal"]) == (1, 3, "server2", 9), err
        assert first["oom"] >= 1
        assert "killed by the kernel for lack of memory" in first["how"]["en"]
        log = told(made.lab, "server2", "dmesg")
        assert "Memory cgroup out of memory: Killed process" in log
        assert "out of memory" not in told(made.lab, "server1", "dmesg")
        made.lab.heal()
        assert "server2" in told(made.lab, "server2", "hostname")
