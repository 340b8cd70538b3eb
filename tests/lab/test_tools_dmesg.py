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


def test_changes_of_links_and_an_event_that_the_lab_wrote_down_are_the_drivers_words(
    tmp_path: pytest.TempPathFactory,
) -> None:
    run = Path(str(tmp_path))
    (run / "dmesg").write_text("0 first\n")
    (run / "npu3.links").write_text("1 UP\n5 DOWN\n6 UP\n")
    (run / "npu4.state").write_text("MAC=02:00\nEVENT=4 80E01801\nTLS=0\n")
    said = [line.rpartition("> ")[2] for line in call(run).splitlines()[1:]]
    assert said == [
        "Event id=0x80E01801, dev_id=4, assertion=1",
        "Event id=0x81078603, dev_id=3, assertion=1",
        "Event id=0x81078603, dev_id=3, assertion=0",
    ]


def test_no_diary_is_silence(tmp_path: pytest.TempPathFactory) -> None:
    assert call(Path(str(tmp_path)), "-T") == ""
