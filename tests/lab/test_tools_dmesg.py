"""The make-believe kernel log shows what the lab wrote down, and nothing of the machine underneath."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import rankready.lab

if TYPE_CHECKING:
    import pytest

TOOL = Path(rankready.lab.__file__).parent / "data/bin/dmesg"


def call(run: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "LAB_RUN": str(run), "TZ": "UTC", "LC_ALL": "C"}
    done = subprocess.run(["/bin/sh", str(TOOL), *words], env=env, capture_output=True, text=True, check=True)
    return done.stdout


def test_lines_carry_their_time(tmp_path: pytest.TempPathFactory) -> None:
    run = Path(str(tmp_path))
    (run / "dmesg").write_text("0 first\n61 Out of memory: Killed process 7 (python3)\n")
    assert call(run, "-T").splitlines() == [
        "[Thu Jan  1 00:00:00 1970] first",
        "[Thu Jan  1 00:01:01 1970] Out of memory: Killed process 7 (python3)",
    ]
    assert call(run).splitlines()[1] == "[   61.000000] Out of memory: Killed process 7 (python3)"


def test_no_diary_is_silence(tmp_path: pytest.TempPathFactory) -> None:
    assert call(Path(str(tmp_path)), "-T") == ""
