# ruff: noqa: UP006, UP035  (sent to servers as part of one file, where Python may be 3.7)
"""Whether this server ends a user's processes when the user's last login ends (facts/transport 11.7)."""

from __future__ import annotations

import contextlib
import pwd
import subprocess
from pathlib import Path
from typing import List

LIMIT_S = 3.0
LOGIN = "org.freedesktop.login1"
NOBODY = (1 << 32) - 1  # a process that no login started


def logout_kills() -> bool:
    """Tell whether logind would end this very process; False where there is no logind to ask."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        if "/session-" not in Path("/proc/self/cgroup").read_text():
            return False
        login = int(Path("/proc/self/loginuid").read_text())
        if asked("KillUserProcesses") != ["b", "true"] or login == NOBODY:
            return False
        user = pwd.getpwuid(login).pw_name
        only, spared = names("KillOnlyUsers"), names("KillExcludeUsers") or ["root"]  # none named spares root
        return user not in spared and (not only or user in only)
    return False


def names(question: str) -> List[str]:
    """Read a list as busctl writes it: ``as 1 "root"``."""
    return [word.strip('"') for word in asked(question)[2:]]


def asked(question: str) -> List[str]:
    """Ask logind for one of its settings; no right is needed for that."""
    call = ["busctl", "get-property", LOGIN, "/org/freedesktop/login1", LOGIN + ".Manager", question]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            call,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
        return done.stdout.decode(errors="replace").split() if done.returncode == 0 else []
    return []
