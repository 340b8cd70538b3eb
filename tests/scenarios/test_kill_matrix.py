"""A slice of the matrix of hard ends, as ``bench/kill.py`` runs it whole: nothing is left, and `ps` says so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankready.lab import doors
from rankready.lab.parts import missing
from rankready.lab.spec import Door, LabSpec, Ssh

pytestmark = [pytest.mark.namespaces, pytest.mark.root]

BENCH = Path(__file__).parents[2] / "bench" / "kill.py"
CELLS = (
    "kill -9 client @training",
    "closed terminal (pty) @init",
    "kill -9 both guards @training",
    "detached: kill -9 a rank",
)
MISSED = ("kill -9 both guards @stopping",)
LIMIT_S = 280


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(CELLS, id="ends"),
        pytest.param(
            MISSED,
            id="both guards while stopping",
            marks=pytest.mark.xfail(
                reason="a process that wiped its environment and left its session is missed once both guards are dead"
            ),
        ),
    ],
)
def test_nothing_of_a_job_is_left_after_a_hard_end(cells: tuple[str, ...]) -> None:
    lacks = "; ".join(en for en, _ in missing(LabSpec(door=Door.ROOT, ssh=Ssh.OPENSSH)))
    if lacks or doors.refusal(Door.ROOT):
        pytest.skip(lacks or f"no root door: {doors.refusal(Door.ROOT)}")
    done = subprocess.run(
        [sys.executable, str(BENCH), "1", *cells], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^.+?(before|init|training|stopping) +(\d+) +(\d+) ", done.stdout, re.MULTILINE)
    assert len(rows) == len(cells)
    assert all(int(before) > 0 and int(left) == 0 for _, before, left in rows)
