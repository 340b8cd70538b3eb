"""A place to run the lab's make-believe tools by themselves: a run folder, a model, or a throw-away namespace."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rankready.lab

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

BIN = Path(rankready.lab.__file__).parent / "data" / "bin"
FIXTURES = Path(__file__).parents[1] / "lab" / "fixtures"
RUN_TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool printed on each stream, and its exit status."""

    out: str
    err: str
    rc: int


def recorded(name: str, rc: int) -> Answer:
    """Read a transcript; a missing file is an empty stream."""
    streams = [FIXTURES / f"{name}.{ending}" for ending in ("out", "err")]
    out, err = (f.read_text() if f.exists() else "" for f in streams)
    if not out + err:
        message = f"no transcript is called {name}"
        raise FileNotFoundError(message)
    return Answer(out=out, err=err, rc=rc)


class Bench:
    """One make-believe server: its run folder, its hccn.conf, and a way to call its tools."""

    def __init__(self, folder: Path, *, enter: tuple[str, ...] = (), **profile: str) -> None:
        self.run_folder = folder / "run"
        self.fabric_folder = folder / "fabric"
        self.root = folder / "root"
        self.conf = self.root / "etc" / "hccn.conf"
        self._enter = enter
        for made in (self.run_folder / "lldp", self.fabric_folder, self.conf.parent):
            made.mkdir(parents=True)
        self.conf.touch(mode=0o640)
        self.profile(**profile)

    def profile(self, **values: str) -> None:
        basics = {
            "LAB_BACKEND": "sim",
            "LAB_GENERATION": "a2",
            "LAB_SERVER": "server1",
            "LAB_DEVICES": "0 1 2 3 4 5 6 7",
            "LAB_TOPOLOGY": "switch",
            "LAB_ROOT": str(self.root),
            "LAB_FABRIC": str(self.fabric_folder),
        }
        lines = [f'{key}="{value}"' for key, value in (basics | values).items()]
        (self.run_folder / "profile").write_text("\n".join(lines) + "\n")

    def state(self, device: int, **values: str | int) -> None:
        (self.run_folder / f"npu{device}.state").write_text(_lines(values))

    def memory(self, device: int, **values: str | int) -> None:
        (self.run_folder / f"npu{device}.dev").write_text(_lines(values))

    def port(self, name: str, **values: str | int) -> None:
        (self.fabric_folder / name).write_text(_lines({"UP": 1, "VLAN": 100} | values))

    def neighbour(self, device: int, **values: str | int) -> None:
        (self.run_folder / "lldp" / f"npu{device}").write_text(_lines(values))

    def command(self, tool: str, *argv: str) -> list[str]:
        return [*self._enter, str(BIN / tool), *argv]

    def environment(self, **more: str) -> dict[str, str]:
        path = f"{BIN}:{os.environ['PATH']}"
        return {"PATH": path, "LAB_RUN": str(self.run_folder), "TZ": "UTC", "LC_ALL": "C.UTF-8", **more}

    def call(self, line: str, stdin: str = "", **env: str) -> Answer:
        """Run one command line, split at blanks."""
        return self.run(*line.split(), stdin=stdin, **env)

    def run(self, *argv: str, stdin: str = "", **env: str) -> Answer:
        done = subprocess.run(
            self.command(*argv),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_TIMEOUT_S,
            env=self.environment(**env),
        )
        return Answer(out=done.stdout, err=done.stderr, rc=done.returncode)

    def start(self, line: str, **env: str) -> subprocess.Popen[str]:
        """Start a call and leave it running, in a process group of its own."""
        return subprocess.Popen(
            self.command(*line.split()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=self.environment(**env),
        )


def _lines(values: Mapping[str, str | int]) -> str:
    return "".join(f"{key}={value}\n" for key, value in values.items())


def namespace() -> Generator[tuple[str, ...], None, None]:
    """Yield the words that enter a fresh network and mount namespace; it ends with the one process that holds it.

    Raises OSError with the reason where the kernel refuses.
    """
    root = os.geteuid() == 0
    ready = "mount -t tmpfs t /run && mkdir -p /run/netns && ip link set lo up && echo ready && exec cat >/dev/null"
    keeper = subprocess.Popen(
        ["unshare", *([] if root else ["-Ur"]), "-nm", "--propagation", "private", "sh", "-c", ready],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert keeper.stdout is not None
    try:
        if keeper.stdout.readline() != "ready\n":
            reason = keeper.communicate(timeout=RUN_TIMEOUT_S)[1]
            raise OSError(reason.strip())
        user = [] if root else ["-U", "--preserve-credentials"]
        yield ("nsenter", "-t", str(keeper.pid), *user, "-n", "-m")
    finally:
        keeper.kill()
        keeper.communicate(timeout=RUN_TIMEOUT_S)
