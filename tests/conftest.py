"""Nothing may be left behind by the tests: processes, namespaces, interfaces, mounts are compared before and after."""

from __future__ import annotations

import os
import signal
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import settings
from lab_up import traces

if TYPE_CHECKING:
    import pytest

settings.register_profile("untimed", deadline=None)  # what is fast is shown in bench/, not asserted here
settings.load_profile("untimed")

MARK = "RANKREADY_TESTS"
PATIENCE_S = 15.0  # the kernel frees namespaces some seconds after their last process (facts/lab 13)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Mark everything that the tests start, by environment; remember what stood there before.

    What we start must hear its signals even where this run itself was put into the background, which ignores them.
    """
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
    if not hasattr(session.config, "workerinput"):
        os.environ[MARK] = uuid.uuid4().hex
        session.config.stash_before = traces()  # type: ignore[attr-defined]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the whole run for what is left once every worker has ended."""
    if hasattr(session.config, "workerinput"):
        return
    limit = time.monotonic() + PATIENCE_S
    while (left := _left(session)) and time.monotonic() < limit:
        time.sleep(0.2)
    if left:
        session.exitstatus = 1
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line("left behind by the tests:\n  " + "\n  ".join(left), red=True)


def _left(session: pytest.Session) -> list[str]:
    before = session.config.stash_before  # type: ignore[attr-defined]
    gained = [f"{what}: {name}" for what, old, new in zip(_KINDS, before, traces(), strict=True) for name in new - old]
    return [*gained, *_processes()]


_KINDS = ("interface", "namespace", "mount", "control group")


def _processes() -> list[str]:
    """Processes that inherited the mark, this one and those that run it left out; zombies have no environment."""
    mark = f"{MARK}={os.environ[MARK]}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                marked = mark in (entry / "environ").read_bytes().split(b"\0")
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if (
                marked
                and "-c from multiprocessing" not in words
                and "execnet" not in words
                and "import sys;exec" not in words
            ):
                found.append(f"process {entry.name}: {words[:160]}")
    return found
