"""How fast a failure on one server stops the ranks of all others, on a lab, and under torchrun alone.

Run: ``python bench/stop.py [repeats]``; RANKREADY_TORCH_PYTHON names an interpreter with torch.

Every rank sleeps but one, which exits 3: no rank would notice by itself. The
time runs from that rank's exit until no process of the job is left on any server, seen from outside of the lab.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec

NPROC = 8
WAIT_S = 4.0  # until all have started and the failing rank fails
ALONE_WAIT_S = 20.0  # by then the client has left
TORCHRUN_LIMIT_S = 60.0
JOB = """
import os, sys, time
mark = sys.argv[1]
if os.environ["RANK"] == "11":
    time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else {wait})
    print("failed at", time.time(), flush=True)
    sys.exit(3)
time.sleep(600)
"""


def alive(mark: str) -> int:
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208  (one system call, no objects)
        with suppress(OSError):
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            found += mark.encode() in words and b"rankready" not in words and state not in "ZX"
    return found


def gone_at(mark: str, limit_s: float) -> float | None:
    until = time.time() + limit_s
    while time.time() < until:
        if not alive(mark):
            return time.time()
        time.sleep(0.02)
    return None


def failed_at(text: str) -> float:
    return next(float(line.split("failed at ")[1]) for line in text.splitlines() if "failed at " in line)


def program(lab: Lab, *words: str) -> list[str]:
    return [sys.executable, "-m", "rankready", "-f", str(lab.directory / "cluster.yaml"), *words]


def alone(lab: Lab, script: Path) -> float:
    """The same with nobody attached: the guards tell each other."""
    mark = f"stop-{secrets.token_hex(6)}"
    words = ["run", "--detach", "--yes", "--json", "--nproc-per-node", str(NPROC), str(script), mark, str(ALONE_WAIT_S)]
    done = subprocess.run(program(lab, *words), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr
    assert alive(mark) == 2 * NPROC, f"{alive(mark)} processes seen: this count would prove nothing"
    ended = gone_at(mark, 120)
    assert ended is not None
    job = json.loads(done.stdout)["job"]
    log = subprocess.run(program(lab, "attach", "--from", "start", job), capture_output=True, text=True, check=False)
    return ended - failed_at(log.stdout)


def ours(lab: Lab, script: Path) -> float:
    mark = f"stop-{secrets.token_hex(6)}"
    process = subprocess.Popen(
        program(lab, "run", "--nproc-per-node", str(NPROC), str(script), mark),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seen: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        seen.append(line)
        if "ranks started on" in line:
            assert alive(mark) == 2 * NPROC, f"{alive(mark)} processes seen: this count would prove nothing"
        if "failed at " in line:
            break
    assert any("ranks started on" in x for x in seen), "".join(seen)
    assert any("failed at " in x for x in seen), "".join(seen)
    ended = gone_at(mark, 60)
    process.communicate()
    assert ended is not None
    return ended - failed_at("".join(seen))


def torchrun(folder: Path, script: Path) -> str:
    """Two static agents of this machine, as on two servers; node 1 holds the rank that fails."""
    python = os.environ.get("RANKREADY_TORCH_PYTHON") or sys.executable
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    if subprocess.run([python, "-c", look], check=False).returncode:
        return "torchrun: skipped, no torch here; RANKREADY_TORCH_PYTHON may name an interpreter that has it"
    mark = f"stop-{secrets.token_hex(6)}"
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    static = ["--nnodes=2", f"--nproc_per_node={NPROC}", "--master_addr=127.0.0.1", f"--master_port={port}"]
    logs = [(folder / f"node{n}").open("w+") for n in range(2)]
    agents = [
        subprocess.Popen(
            [python, "-m", "torch.distributed.run", *static, f"--node_rank={n}", str(script), mark],
            stdout=logs[n],
            stderr=subprocess.STDOUT,
        )
        for n in range(2)
    ]
    try:
        text = ""
        until = time.time() + 120
        while "failed at " not in text and time.time() < until:
            time.sleep(0.1)
            text = Path(logs[1].name).read_text()
        ended = gone_at(mark, TORCHRUN_LIMIT_S)
        took = f"{ended - failed_at(text):.2f} s" if ended else f"more than {TORCHRUN_LIMIT_S:g} s, {alive(mark)} left"
        return f"torchrun alone, 2 static nodes: {took}; node 0 exit {agents[0].poll()}"
    finally:
        for agent in agents:
            agent.terminate()
        for agent in agents:
            agent.wait()
        for log in logs:
            log.close()


def main(repeats: int) -> int:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        script = folder / "stop_job.py"
        script.write_text(JOB.format(wait=WAIT_S))
        up(LabSpec(directory=folder / "lab", door=Door.AUTO))
        lab = Lab.open(folder / "lab")
        try:
            subprocess.run(program(lab, "apply", "--yes"), check=True, capture_output=True)
            took = sorted(ours(lab, script) for _ in range(repeats))
            left = sorted(alone(lab, script) for _ in range(repeats))
        finally:
            lab.down()
        load = os.getloadavg()[0]
        print(f"rankready, 2 servers x {NPROC} ranks, {repeats} runs, load {load:.1f} on {os.cpu_count()} cores:")
        print("  first failure to last process gone:")
        print(f"    attached: median {statistics.median(took):.2f} s, worst {took[-1]:.2f} s")
        print(f"    detached, nobody attached: median {statistics.median(left):.2f} s, worst {left[-1]:.2f} s")
        print(torchrun(folder, script))
        return 0 if max(took[-1], left[-1]) <= 2 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
