"""The demo, as a newcomer runs it, on every door that opens here; nothing is left when it ends, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lab_up import eventually, traces

from rankready.lab import doors
from rankready.lab.spec import Door

pytestmark = [pytest.mark.namespaces, pytest.mark.timeout(240)]


def opened() -> list[Any]:
    found = []
    for door in (Door.ROOT, Door.ROOTLESS, Door.SIMULATED):
        reason = doors.refusal(door)
        marks = [pytest.mark.skip(reason=f"door {door}: {reason}")] if reason else []
        found.append(pytest.param(door, id=door.value, marks=marks))
    return found


def start(door: Door, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rankready", "--lang", "en", "demo", "--door", door.value, "--dir", str(folder / "lab")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def living(folder: Path) -> list[str]:
    """Processes that know the folder, by command line or environment; zombies have neither."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in words:
                found.append(f"{entry.name}: {words[:200]!r}")
    return found


@pytest.mark.parametrize("door", opened())
def test_the_demo_goes_as_told_and_leaves_nothing(door: Door, tmp_path: Path) -> None:
    before = traces()
    process = start(door, tmp_path)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 0, out
    assert "all went as told" in out
    assert ("simulated" in out) is (door is Door.SIMULATED)
    eventually(lambda: living(tmp_path) == [], "no process of the demo is left")
    eventually(lambda: traces() == before, "no interface, namespace or mount is left")
    assert not (tmp_path / "lab/state").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
@pytest.mark.parametrize("door", opened())
def test_an_interrupted_demo_leaves_nothing(door: Door, number: signal.Signals, tmp_path: Path) -> None:
    before = traces()
    process = start(door, tmp_path)
    assert process.stdout is not None
    for line in process.stdout:
        if "[2/9]" in line:
            break
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == (-number if number is signal.SIGKILL else 130), out
    eventually(lambda: living(tmp_path) == [], "no process of the demo is left")
    eventually(lambda: traces() == before, "no interface, namespace or mount is left")
