"""A job under the real guard on this machine, in a HOME of its own."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

from rankready.runs import guard_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

NONCE = "rrnonce"


def eventually(true: Callable[[], bool], within_s: float = 20.0) -> bool:
    """Wait until something holds; False when it never did."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if true():
            return True
        time.sleep(0.05)
    return true()


class GuardedJob:
    """Start it, ask it, hurt it; ``end`` leaves nothing behind."""

    def __init__(self, home: Path, argvs: Sequence[Sequence[str]], **changes: object) -> None:
        self.job = f"test-{secrets.token_hex(4)}"
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self.folder = home / ".rankready" / "jobs" / self.job
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        self.spec: dict[str, Any] = {
            "job": self.job,
            "lease_s": 60,
            "start_s": 0,
            "address": "127.0.0.1",
            "grace_s": 1,
            "fail_hold_s": 60,
            "log_limit": 1 << 20,
            "workdir": "~",
            "setup": "",
            "folders": ["train"],
            "ranks": [
                {
                    "rank": i,
                    "local_rank": i,
                    "argv": list(argv),
                    "env": {},
                    "defaults": {},
                    "unset": [],
                    "log": f"train/rank-{i}.log",
                }
                for i, argv in enumerate(argvs)
            ],
        }
        self.spec.update(changes)

    def script(self, script: bytes) -> subprocess.CompletedProcess[bytes]:
        """Run one shell script as a session would."""
        return subprocess.run(
            ["/bin/sh", "-s"], input=script, env=self.env, capture_output=True, check=False, timeout=60
        )

    def start(self) -> dict[str, Any]:
        done = self.script(guard_file.start_script(self.job, self.spec, NONCE))
        return guard_file.read_answer(done.stdout, NONCE)

    def ask(self, mode: str, *words: str) -> dict[str, Any]:
        return guard_file.read_answer(self.script(guard_file.ask_script(NONCE, mode, words)).stdout, NONCE)

    def watch(self, offsets: dict[str, int] | None = None) -> subprocess.Popen[bytes]:
        command = guard_file.watch_command(self.job, NONCE, offsets or {})
        return subprocess.Popen(
            ["/bin/sh", "-c", command], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def watched(self, offsets: dict[str, int] | None = None) -> list[dict[str, Any]]:
        """Watch to the end, without a beat; return all frames."""
        with self.watch(offsets) as process:
            assert process.stdout is not None
            lines = process.stdout.read().splitlines()
        return [f for line in lines if (f := guard_file.frame(line, NONCE)) is not None]

    @property
    def state(self) -> dict[str, Any]:
        found = json.loads((self.folder / "state").read_text())
        assert isinstance(found, dict)
        return found

    @property
    def ended(self) -> dict[str, Any] | None:
        try:
            found = json.loads((self.folder / "exit").read_text())
        except OSError:
            return None
        assert isinstance(found, dict)
        return found

    def kill(self, who: str) -> None:
        """KILL guard or guardian."""
        os.kill(self.state[who][0], signal.SIGKILL)

    def end(self) -> None:
        self.ask("sweep", self.job)
