"""What bringing a folder to all servers costs: rankready sync against scp and rsync, in one run on one lab.

Run: ``python bench/sync.py [servers] [files] [MB]``. Each tool fills an empty folder, then is asked again with nothing
changed, then with one file changed. scp and rsync run once a server, all at once: what a user's loop with ``&`` does.
What is not installed here is said to be missing, not guessed.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec

if TYPE_CHECKING:
    from collections.abc import Callable


def make_tree(folder: Path, files: int, size: int) -> None:
    rng = random.Random(1)  # noqa: S311  (content of test files)
    for number in range(files):
        path = folder / f"part{number % 10}" / f"file{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(size // files))


def ours(lab: Lab, tree: Path) -> bool:
    words = ["-f", str(lab.directory / "cluster.yaml"), "sync", str(tree), "--to", "/root/bench-ours"]
    done = subprocess.run(
        [sys.executable, "-m", "rankready", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.returncode == 0


def loop(lab: Lab, words: Callable[[str], list[str]]) -> bool:
    names = lab.inventory.spec.names
    running = [
        subprocess.Popen(words(n), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for n in names
    ]
    return all([process.wait() == 0 for process in running])  # noqa: C419  (every one is waited for)


def tools(lab: Lab, tree: Path) -> dict[str, Callable[[], bool] | None]:
    config = str(lab.directory / "ssh" / "config")
    scp = ["scp", "-q", "-O", "-r", "-F", config, str(tree)]
    rsync = ["rsync", "-a", "-e", f"ssh -F {config}", str(tree)]
    return {
        "rankready sync": lambda: ours(lab, tree),
        "scp -r, in parallel": (lambda: loop(lab, lambda n: [*scp, f"{n}:/root/bench-scp"]))
        if shutil.which("scp")
        else None,
        "rsync -a, in parallel": (lambda: loop(lab, lambda n: [*rsync, f"{n}:/root/bench-rsync/"]))
        if shutil.which("rsync")
        else None,
    }


def timed(work: Callable[[], bool]) -> str:
    began = time.perf_counter()
    good = work()
    return f"{time.perf_counter() - began:.2f}" if good else "failed"


def main(servers: int, files: int, megabytes: int) -> int:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        tree = Path(name) / "tree"
        make_tree(tree, files, megabytes << 20)
        up(LabSpec(directory=Path(name) / "lab", door=Door.AUTO, servers=servers))
        lab = Lab.open(Path(name) / "lab")
        try:
            load = os.getloadavg()[0]
            print(
                f"{servers} servers, {files} files, {megabytes} MB; load {load:.1f} on {os.cpu_count()} cores; seconds"
            )
            print(f"{'tool':<24}{'empty':>10}{'unchanged':>12}{'one file':>10}")
            for title, work in tools(lab, tree).items():
                if work is None:
                    print(f"{title:<24}{'not installed here, not measured':>34}")
                    continue
                cells = [timed(work), timed(work)]
                (tree / "part0" / "file0.py").write_bytes(os.urandom(1000))
                print(f"{title:<24}{cells[0]:>10}{cells[1]:>12}{timed(work):>10}", flush=True)
        finally:
            lab.down()
    return 0


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(given + [4, 400, 20][len(given) :])))
