"""How jobs end on the lab, and what `why` makes of each: the way, what is expected, what is said.

Run as root: ``python bench/ends.py [WAY ...]``. Each way is a real job over real SSH on a lab of two servers with eight
devices each; the two that need a fault of the lab beside them are in tests/scenarios/test_why_lab.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rankready.lab
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from job_ends import AT, ENDS

JOBS = Path(rankready.lab.__file__).parent / "data" / "jobs"
ROW = "{:12} {:40} {:40} {:>6}"


def rankready_says(folder: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "rankready", "-f", str(folder / "cluster.yaml"), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def row(folder: Path, way: str) -> bool:
    began = time.monotonic()
    options = ("--with", str(JOBS / "train.py"), str(JOBS / "hccl_train.py"), "--timeout", "8", "--steps", "6")
    rankready_says(folder, "run", "--json", *options, "--end", way, "--at-rank", str(AT))
    _, told = rankready_says(folder, "why", "--json")
    found = json.loads(told)
    cause = found["cause"] or {}
    seen = (found["outcome"], cause.get("kind"), cause.get("ranks"))
    print(ROW.format(way, shown(ENDS[way]), shown(seen), f"{time.monotonic() - began:.0f} s"), flush=True)
    return seen == ENDS[way]


def shown(told: tuple[object, ...]) -> str:
    outcome, kind, ranks = told
    return f"{outcome} {kind} {f'{ranks[0]}-{ranks[-1]}' if isinstance(ranks, list) and len(ranks) > 1 else ranks}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", nargs="*", choices=[[], *ENDS])
    ways = parser.parse_args().way or list(ENDS)
    with tempfile.TemporaryDirectory(prefix="rankready-ends-", dir="/var/tmp") as name:
        folder = Path(name) / "lab"
        up(LabSpec(directory=folder, door=Door.ROOT))
        try:
            rankready_says(folder, "apply", "--yes")
            print(ROW.format("way", "expected", "seen", "time"))
            right = [row(folder, way) for way in ways]
        finally:
            Lab.open(folder).down()
    print(f"{sum(right)} of {len(right)} as expected")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
