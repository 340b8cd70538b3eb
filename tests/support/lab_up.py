"""Labs for tests: why a door does not open here, a command over ssh, and what a lab would leave behind."""

from __future__ import annotations

import functools
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankready.lab import doors, sweep
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.lab.inventory import Inventory

OURS = ("ge1-", "mctl", "mgmt", "vlan", "swapping")
PATIENCE_S = 20.0


@functools.cache
def best_door() -> Door:
    return doors.choose(Door.AUTO).door


def needs_namespaces() -> None:
    opened = doors.choose(Door.AUTO)
    if opened.door is Door.SIMULATED:
        pytest.skip(f"no namespaces here: {opened.reason}")


def needs_root() -> None:
    refused = doors.refusal(Door.ROOT)
    if refused:
        pytest.skip(f"the root door does not open here: {refused}")


def stand(directory: Path, door: Door | None = None, **asked: object) -> Lab:
    up(LabSpec(directory=directory, door=door or best_door(), **asked))  # type: ignore[arg-type]
    return Lab.open(directory)


def ssh(
    lab: Lab, server: str, command: str, *, data: bytes = b"", limit_s: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run one command by the OpenSSH client, with the files that the lab wrote and no others."""
    words = ("ssh", "-F", str(lab.directory / "ssh/config"), "-o", "ConnectTimeout=5", "-o", "BatchMode=yes", server)
    return subprocess.run((*words, command), input=data, capture_output=True, timeout=limit_s, check=False)


def told(lab: Lab, server: str, command: str) -> str:
    """What a command prints on a server; it must succeed."""
    done = ssh(lab, server, command)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def address_all(lab: Lab) -> None:
    """Give every device an address, by plain ip, in the file as the driver's tool writes it."""
    for number, server in enumerate(lab.inventory.spec.names, start=1):
        lines = []
        for device in range(lab.inventory.spec.devices):
            segment, host = 100 + device % 4, number * 10 + device
            lines.append(f"ip -n npu{device} addr add 10.20.{segment}.{host}/24 brd + dev eth0")
            conf = f"address_{device}=10.20.{segment}.{host}\\nnetmask_{device}=255.255.255.0\\n"
            lines.append(f"printf '{conf}' >> /etc/hccn.conf")
        told(lab, server, "\n".join(lines))


def pings(lab: Lab, server: str, device: int, target: str, *, count: int = 2) -> bool:
    ping = f"nsenter --net=/run/netns/npu{device} ping -n -c {count} -i 0.02 -W 1 {target}"
    return ssh(lab, server, ping).returncode == 0


def eventually(true: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit, f"not within {PATIENCE_S:g} s: {what}"
        time.sleep(0.05)


def traces() -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
    """What a leaky lab would leave on the machine: interfaces, namespaces by name, mounts."""
    names = {name for _, name in socket.if_nameindex() if name.startswith(OURS)}
    netns = {p.name for p in Path("/run/netns").iterdir()} if Path("/run/netns").is_dir() else set()
    mounts = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    groups = {str(p) for p in Path("/sys/fs/cgroup").rglob("rankready-*") if p.is_dir()}
    return frozenset(names), frozenset(netns), frozenset(mounts), frozenset(groups)


def refused(port: int) -> bool:
    with socket.socket() as link:
        link.settimeout(5)
        return link.connect_ex(("127.0.0.1", port)) != 0


def starter(directory: Path, *, leased: bool, door: Door) -> tuple[subprocess.Popen[bytes], dict[str, object]]:
    """Start a lab from a process of its own, that then waits to be killed; with its lab.json."""
    script = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from rankready.lab.engine import up\n"
        "from rankready.lab.spec import Door, LabSpec\n"
        "read, write = os.pipe()\n"
        "leased = sys.argv[2] == 'True'\n"
        "spec = LabSpec(directory=Path(sys.argv[1]), door=Door(sys.argv[3]))\n"
        "up(spec, lease_fd=read if leased else None)\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        (sys.executable, "-c", script, str(directory), str(leased), str(door)), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process, json.loads((directory / "lab.json").read_text())


def members(inventory: Inventory) -> set[sweep.Process]:
    return sweep.below(inventory.process.pid)
