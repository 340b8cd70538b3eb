"""Run a program inside a server, or in a namespace of the lab's, for a bounded time."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from rankready.lab.login import login_environment
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_TIMEOUT_S = 20.0


def enter(pid: int) -> tuple[str, ...]:
    """The words that start a program inside the server whose pid 1 this is."""
    return ("nsenter", "-t", str(pid), "-m", "-p", "-n", "-u", "-i")


def ran(
    words: tuple[str, ...], what: str, text: str = "", *, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run to the end, whatever its exit status. Raises LabError when it does not start or takes too long."""
    try:
        return subprocess.run(
            words,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=login_environment() if env is None else env,
            timeout=RUN_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"{what}: no answer within {RUN_TIMEOUT_S:g} s", zh=f"{what}：{RUN_TIMEOUT_S:g} 秒内无应答"
        ) from error
    except OSError as error:
        raise LabError(f"{what}: {error.strerror}") from error


def told(words: tuple[str, ...], what: str, text: str = "", *, env: Mapping[str, str] | None = None) -> str:
    """Run and return what it printed. Raises LabError with its own words when it fails."""
    done = ran(words, what, text, env=env)
    if done.returncode:
        raise LabError(f"{what}: {(done.stderr or done.stdout).strip()[:300] or f'exit {done.returncode}'}")
    return done.stdout
