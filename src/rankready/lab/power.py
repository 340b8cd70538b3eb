"""The end of a server, and its birth anew while the lab goes on (facts/lab 5)."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from rankready.lab import sweep
from rankready.lab.server import STATE, Body, give_birth, keep_paths
from rankready.lab.wiring import Machine
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.lab.world import World

FORGET = ("addr flush dev eth0 scope global", "link set eth0 mtu 1500")
"""What a device without power loses."""

_BIRTH_TIMEOUT_S = 30.0


def end(pid: int) -> None:
    """Kill a server's pid 1: all in its pid namespace goes with it."""
    end_all(sweep.below(pid))


def end_all(processes: set[sweep.Process]) -> None:
    """Kill these and wait until they are gone."""
    sweep.send(processes, signal.SIGKILL)
    sweep.wait_gone(processes)


def forget(run: Path) -> None:
    """What the make-believe tools keep of the devices' own memory, and who held them, is gone."""
    for pattern in ("npu*.dev", "npu*.owner", "lock/*"):
        for file in run.glob(pattern):
            file.unlink(missing_ok=True)


def recover(world: World, server: str) -> None:
    """What the driver does at boot: put the file on the devices; what is wrong in it is not the lab's business."""
    with suppress(LabError):
        world.run(server, "hccn_tool", "-a", "-cfg", "recovery")


def bear(machine: Machine, devices: int, hosts: str) -> int:
    """Give birth to a server again and return its pid 1. In a process of its own: we have threads by now."""
    asked = {
        "number": machine.number,
        "name": machine.name,
        "devices": devices,
        "hosts": hosts,
        "overlay": (STATE / machine.name / "disk").is_dir(),
    }
    done = subprocess.run(
        (sys.executable, "-m", "rankready.lab.power", json.dumps(asked)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_BIRTH_TIMEOUT_S,
        check=False,
    )
    if done.returncode or not done.stdout.strip().isdecimal():
        raise LabError(f"{machine.name} did not come up again: {(done.stdout or done.stderr).strip()[-300:]}")
    return int(done.stdout)


def main() -> None:
    """Do one birth, as the JSON in ``argv[1]`` asks, and print the pid or the reason."""
    asked = json.loads(sys.argv[1])
    body = Body(
        machine=Machine(asked["number"], asked["name"]),
        devices=asked["devices"],
        overlay=asked["overlay"],
        hosts=asked["hosts"],
        keep=keep_paths(),
    )
    try:
        print(give_birth([body])[body.machine.name])  # noqa: T201  (the answer to the process that asked)
    except (LabError, OSError) as error:
        print(error)  # noqa: T201  (the same)
        sys.exit(1)


if __name__ == "__main__":
    main()
