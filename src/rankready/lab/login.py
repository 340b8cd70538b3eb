"""What a fresh login does with a client's command, as sshd would."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankready.lab.sweep import TAG

if TYPE_CHECKING:
    from pathlib import Path

PATH = "/run/lab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_HOME = "cd; unset OLDPWD; exec"


def shell_words(command: str | None, *, terminal: bool) -> tuple[str, ...]:
    """``sh -c`` in the home folder; without a command, a login shell; on a terminal, in a session that owns it."""
    session = f"{_HOME} setsid --ctty" if terminal else _HOME
    if command is None:
        return ("/bin/sh", "-c", f"{session} /bin/sh -l")
    return ("/bin/sh", "-c", f'{session} /bin/sh -c "$1"', "sh", command)


def simulated_environment(folder: Path, server: str, lab: str) -> dict[str, str]:
    """What a login on a simulated server has."""
    path = os.environ.get("PATH", os.defpath)
    return {
        "PATH": f"{folder}/run/lab/bin:{path}",
        "HOME": str(folder / "root"),
        "TMPDIR": str(folder / "tmp"),
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "RANKREADY_ROOT": str(folder),
        "LAB_RUN": str(folder / "run/lab"),
        "LAB_SERVER": server,
        TAG: lab,
    }


def login_environment() -> dict[str, str]:
    """What a fresh login as root has on a server."""
    return {
        "PATH": PATH,
        "HOME": "/root",
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
    }
