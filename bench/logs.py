"""Reading speed of `why`: its selection stage against rg, grep and a Python line loop, then a whole large job.

Run: ``python bench/logs.py`` (100 MB; ``--mb 500`` for the size in the documentation; ``--servers 64`` for the job).
One core, page cache warm, the best of three in processor time (a loaded machine changes it little); every method must
find the same ERROR lines.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.kind.signature import Stream
from rankready.runs.why import explain_folder
from rankready.runs.why_folder import Source
from rankready.runs.why_select import PROGRAMS, select
from rankready.runs.why_sieves import catalogue, sieve

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 3
ERROR_EVERY = 2000  # lines; the density of a default job's run log
STAMP = "2025-11-18-09:{:02d}:{:02d}.{:03d}.000"


def line(number: int, pid: int) -> str:
    minute, second, milli = number // 60000 % 60, number // 1000 % 60, number % 1000
    stamp = STAMP.format(minute, second, milli)
    if number % ERROR_EVERY == ERROR_EVERY - 1:
        text = f"aclrtSynchronizeStream: [EXEC][DEFAULT]synchronize stream {number} failed, runtime result = 507048"
        return f"[ERROR] ASCENDCL({pid},python3):{stamp} [stream.cpp:214]{pid} {text}\n"
    return (
        f"[INFO] RUNTIME({pid},python3):{stamp} [runtime.cc:689]{pid} PrintStat:[INIT][DEFAULT]device_id=0, "
        f"alive streams={number}, used={number * 37 % 9973}, pool=[{number % 77}], task_id={number % 65536}\n"
    )


def make(path: Path, size: int, pid: int = 4242) -> int:
    """Write about ``size`` bytes of make-believe log; return how many ERROR lines it holds."""
    errors = number = written = 0
    with path.open("w", encoding="ascii") as file:
        while written < size:
            part = [line(number + i, pid) for i in range(10_000)]
            number += 10_000
            errors += sum(p.startswith("[ERROR]") for p in part)
            written += file.write("".join(part))
    return errors


def ours(*programs: tuple[str, ...]) -> Callable[[Path], int]:
    def run(path: Path) -> int:
        source = Source(path=path, file="n/ascend/log/run/plog/x.log", host="n", stream=Stream.HOST)
        return len([1 for _, _, text in select(path, sieve(source), programs).lines if text.startswith("[ERROR]")])

    return run


def mapped(path: Path) -> int:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        count, at = 0, data.find(b"[ERROR]")
        while at >= 0:
            count += 1
            at = data.find(b"[ERROR]", at + 1)
        return count


def program(*words: str) -> Callable[[Path], int]:
    def run(path: Path) -> int:
        done = subprocess.run([*words, str(path)], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"})
        return done.stdout.count(b"\n")

    return run


def loop(path: Path) -> int:
    """What a first script would do: all literals joined into one pattern, on every line."""
    literals = sorted({s.literal for s in catalogue().signatures if s.literal})
    whole = re.compile("|".join(re.escape(text) for text in literals))
    count = 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            whole.search(text)
            count += text.startswith("[ERROR]")
    return count


def best(method: Callable[[Path], int], path: Path) -> tuple[float, int]:
    times = []
    found = 0
    for _ in range(1 if method is loop else ROUNDS):
        began = os.times()
        found = method(path)
        ended = os.times()
        times.append(sum(ended[:4]) - sum(began[:4]))  # ours and our children's
    return max(min(times), 1e-3), found


def selection(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plog.log"
        errors = make(path, size)
        real = path.stat().st_size
        print(f"{real / 1e6:.0f} MB, {errors} ERROR lines, one core, warm")
        methods: dict[str, Callable[[Path], int]] = {
            **{
                f"rankready, selection stage, by {words[0]}": ours(words)
                for words in PROGRAMS
                if shutil.which(words[0])
            },
            "rankready, selection stage, by mmap alone": ours(),
            "mmap.find of one literal, nothing else": mapped,
            "grep -aF [ERROR]": program("grep", "-aF", "[ERROR]"),
            "grep -anE, 4 alternatives": program(
                "grep", "-anE", r"^\[ERROR\]|Event id| status\[|Entry-HcclCommDestroy"
            ),
            "Python line loop, all literals joined": loop,
        }
        if shutil.which("rg"):
            methods["rg -aF [ERROR]"] = program("rg", "-aF", "--no-mmap", "[ERROR]")
        for name, method in methods.items():
            seconds, found = best(method, path)
            note = "" if found >= errors else f"   ({found} lines kept: caps of a dense file)"
            print(f"{real / 1e6 / seconds:8.0f} MB/s  {name}{note}")


def whole_job(servers: int, ranks: int, size: int) -> None:
    """A job in which every rank has a run log of ``size`` bytes and one rank raised an exception."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
        folder = Path(name)
        base = folder / ".base"
        base.mkdir()
        processes = []
        logs: dict[int, Path] = {}
        for server in range(servers):
            for local in range(ranks):
                rank, pid = server * ranks + local, 4242 + local
                if local not in logs:
                    logs[local] = base / f"{local}.log"
                    make(logs[local], size, pid)
                place = folder / f"n{server:03d}/ascend/log/run/plog"
                place.mkdir(parents=True, exist_ok=True)
                os.link(logs[local], place / f"plog-{pid}_20251118090000000.log")
                train = folder / f"n{server:03d}/train"
                train.mkdir(exist_ok=True)
                text = "ValueError: bad shard" if rank == servers * ranks - 3 else "ConnectionResetError: peer gone"
                (train / f"rank-{rank}.log").write_text(
                    f'Traceback (most recent call last):\n  File "t.py", line 9, in f\n    x\n{text}\n'
                )
                processes.append(
                    {"rank": rank, "host": f"n{server:03d}", "local_rank": local, "npu": local, "pid": pid}
                )
        hosts = [{"host": f"n{s:03d}", "ip": f"10.0.0.{s}", "clock_offset_s": 0} for s in range(servers)]
        job = {"world_size": servers * ranks, "started": "2025-11-18T09:00:00", "hosts": hosts, "ranks": processes}
        (folder / "job.json").write_text(json.dumps(job))
        total = servers * ranks * size
        began, spent = time.perf_counter(), os.times()
        found = explain_folder(folder)
        seconds, now = time.perf_counter() - began, os.times()
        assert found["cause"] is not None, found
        assert found["cause"]["ranks"] == [servers * ranks - 3], found["cause"]
        print(
            f"{servers} x {ranks} ranks x {size / 1e6:.0f} MB = {total / 1e9:.1f} GB: {seconds:.1f} s end to end "
            f"({total / 1e6 / seconds:.0f} MB/s on {os.cpu_count()} cores); rank {found['cause']['ranks'][0]} named; "
            f"{sum(now[:4]) - sum(spent[:4]):.1f} s of processor time"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--servers", type=int, default=8)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--rank-mb", type=int, default=5)
    said = parser.parse_args()
    selection(said.mb * 1_000_000)
    whole_job(said.servers, said.ranks, said.rank_mb * 1_000_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
