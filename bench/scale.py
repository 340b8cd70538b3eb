"""A thousand servers, a tenth of them sick: how long `check` and `mesh` take, what they need, and whom they name.

Run: python bench/scale.py [--servers 1000] [--devices 8] [--sick 0.1] [--call-ms 0] [--naive 48] [--full]

``--full``: every ordered pair (with 8 devices that is 8 million calls; the farm makes some 10,000 a second).
The client's CPU and the farm's are told apart: on one machine both share the cores, and the wall time is of both.

The servers are make-believe: one process of its own answers for all of them behind a real SSH server, on loopback
addresses (tests/support/server_farm.py). The naive way is what a user would write: one `ssh` process a server, sixteen
at a time, with the very script that `check` sends; its answers are thrown away, ours are read and judged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankready.config.read import read
from rankready.runs.check import checks
from rankready.runs.observe import _asked, questions
from rankready.runs.observe import product as rules
from rankready.runs.script import compile_script

SUPPORT = Path(__file__).parents[1] / "tests" / "support"
NAIVE_AT_ONCE = 16


@dataclass(frozen=True)
class Cost:
    """What one command took. Seconds of wall and of the client's CPU, MB of its memory."""

    wall_s: float
    cpu_s: float
    rss_mb: float
    exit: int
    farm_s: float
    said: dict[str, Any]


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def product(folder: Path, farm: int, *words: str) -> Cost:
    """Run a verb as a user would."""
    before = cpu_of(farm)
    began = time.monotonic()
    with (folder / "said.json").open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "rankready", "-f", str(folder / "cluster.yaml"), *words, "--json"],
            stdout=out,
            stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    said = json.loads((folder / "said.json").read_text())
    cpu_s, wall_s = used.ru_utime + used.ru_stime, time.monotonic() - began
    return Cost(wall_s, cpu_s, used.ru_maxrss / 1024, child.returncode, cpu_of(farm) - before, said)


def naive(folder: Path, names: list[str], logins: list[str], script: bytes) -> float:
    """Return CPU seconds a server of one `ssh` process each."""

    async def one(login: str, window: asyncio.Semaphore) -> None:
        host, _, port = login.removeprefix("root@").partition(":")
        async with window:
            child = await asyncio.create_subprocess_exec(
                "ssh", "-F", "none", "-i", str(folder / "key"), "-p", port,
                "-o", f"UserKnownHostsFile={folder / 'known'}", "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
                f"root@{host}", "exec /bin/sh -s",
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            out, _ = await child.communicate(script)
            assert b" end\n" in out[-40:], (login, out[-80:])

    async def everyone() -> None:
        window = asyncio.Semaphore(NAIVE_AT_ONCE)
        await asyncio.gather(*(one(login, window) for login in logins))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asyncio.run(everyone())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / len(names)


def check_script(folder: Path) -> tuple[bytes, dict[str, str]]:
    """The script that `check` sends to a server, and how each server is reached."""
    cluster = read(folder / "cluster.yaml")
    wanted = questions({need for c in checks() for need in c.needs})
    asked = _asked(cluster.servers[0], wanted, rules(cluster).rings)
    script = compile_script([command for _, _, command in asked], nonce="rrbench", lanes=2)
    return script, {s.name: str(s.login) for s in cluster.servers}


def unknown_servers(said: dict[str, Any]) -> set[str]:
    return {v["place"] for v in said["verdicts"] if v["code"] == "HST001" and v["outcome"] == "unknown"}


def passed_of(said: dict[str, Any], servers: set[str], *, probed: bool) -> int:
    """Verdicts of these servers and their devices that are a pass; of probing, a device may pass by others' calls."""
    return sum(
        v["outcome"] == "pass" and v["place"].partition("/")[0] in servers and not (probed and v["code"] == "NET009")
        for v in said["verdicts"]
    )


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--servers", type=int, default=1000)
    ask.add_argument("--sick", type=float, default=0.1)
    ask.add_argument("--call-ms", type=float, default=0.0)
    ask.add_argument("--devices", type=int, default=8)
    ask.add_argument("--full", action="store_true")
    ask.add_argument("--naive", type=int, default=48, metavar="N", help="servers of the naive run")
    said = ask.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rankready-scale-"))
    farm = subprocess.Popen(
        [sys.executable, str(SUPPORT / "server_farm.py"), str(folder), "--servers", str(said.servers),
         "--devices", str(said.devices), "--sick", str(said.sick), "--call-ms", str(said.call_ms)],
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert farm.stdout is not None
        assert farm.stdout.readline() == b"ready\n"
        report(folder, farm.pid, said)
    finally:
        farm.terminate()
        farm.wait(10)
        shutil.rmtree(folder)


def report(folder: Path, farm: int, said: argparse.Namespace) -> None:
    sick = json.loads((folder / "sick.json").read_text())
    script, logins = check_script(folder)
    print(f"{said.servers} servers, {said.devices} devices each, {len(sick)} sick; script {len(script):,} bytes")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':14}{'wall s':>9}{'cpu s':>9}{'ms/server':>11}{'rss MB':>9}{'exit':>6}{'farm cpu s':>12}  named unknown")
    costs: dict[str, Cost] = {}
    for verb, words in (("check", ("check",)), ("mesh", ("mesh", *(["--full"] if said.full else [])))):
        cost = costs[verb] = product(folder, farm, *words)
        each = 1000 * cost.cpu_s / said.servers
        named = unknown_servers(cost.said)
        silent = {s for s, kind in sick.items() if kind != "hung"}  # half of its answers came, and count
        assert silent <= named, silent - named
        starved = named - set(sick)  # the farm is one process: where the machine is busy, it answers some too late
        assert not passed_of(cost.said, silent, probed=verb == "mesh"), "a pass that nobody earned"
        cells = (
            f"{cost.wall_s:>9.1f}{cost.cpu_s:>9.1f}{each:>11.1f}{cost.rss_mb:>9.0f}{cost.exit:>6}{cost.farm_s:>12.1f}"
        )
        print(
            f"{verb:14}{cells}  {len(named & set(sick))} of {len(sick)}" + (f", {len(starved)} starved" * bool(starved))
        )
    well = [name for name in logins if name not in sick][: said.naive]
    each = naive(folder, well, [logins[n] for n in well], script)
    ours = costs["check"].cpu_s / said.servers
    print(
        f"{'naive ssh':14}{'':>9}{each * len(well):>9.1f}{1000 * each:>11.1f}   ({len(well)} servers, answers not read)"
    )
    print(f"check / naive: {ours / each:.2f} of the client CPU a server, reading and judging included")
    coverage = costs["mesh"].said["coverage"]
    print(f"mesh: {coverage['proven']:,} of {coverage['planned']:,} proven, {coverage['unmeasured']:,} not measured")


if __name__ == "__main__":
    main()
