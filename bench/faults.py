"""How often the culprit is named, over seeded faults on a simulated fabric.

Run: ``python bench/faults.py [runs per kind and size] [kind …]``. Every call sends three packets; the hash that spreads
flows over uplinks is not known to the localiser. An echo does not tell the direction of a fault: the column is left
to counters.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from make_believe_fabric import failing, truth, walk

from rankready.mesh.localise import localise
from scenarios import KINDS, LARGE, SMALL, scenario

COLUMNS = (
    "kind",
    "runs",
    "faults",
    "precision",
    "recall",
    "exact",
    "false alarms",
    "calls/dev",
    "direction",
    "solve p95 s",
)


def main(runs: int, kinds: list[str]) -> None:
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    solve: dict[str, list[float]] = defaultdict(list)
    for kind in kinds:
        for servers in (*SMALL, *LARGE):
            few = max(1, runs // 10) if servers > 128 else runs
            for seed in range(few):
                one(kind, servers, seed, s=sums[kind], solve=solve[kind])
    print("".join(f"{c:>13}" for c in COLUMNS))
    for kind in kinds:
        s = sums[kind]
        cells = (
            kind,
            f"{s['runs']:.0f}",
            f"{s['want']:.0f}",
            f"{s['right'] / s['got'] if s['got'] else 1:.4f}",
            f"{s['right'] / s['want'] if s['want'] else 1:.4f}",
            f"{s['exact'] / s['runs']:.4f}",
            f"{s['got'] - s['right']:.0f}",
            f"{s['calls'] / s['devices']:.1f}",
            "counters",
            f"{sorted(solve[kind])[int(0.95 * len(solve[kind]))]:.3f}",
        )
        print("".join(f"{c:>13}" for c in cells))


def one(kind: str, servers: int, seed: int, *, s: dict[str, float], solve: list[float]) -> None:
    case = scenario(seed, kind, servers)
    judged, results = walk(case.fabric, case.product, sparse_k=case.sparse_k)
    got, want = failing(judged), truth(case.fabric)
    began = time.perf_counter()
    localise(case.fabric.cluster, case.fabric.seen(), results)
    solve.append(time.perf_counter() - began)
    s["runs"] += 1
    s["got"] += len(got)
    s["want"] += len(want)
    s["right"] += len(got & want)
    s["exact"] += got == want
    s["calls"] += len(results)
    s["devices"] += sum(1 for _ in case.fabric.cluster.devices())
    if got != want and "-v" in sys.argv:
        print(case.name, "blamed too much:", sorted(got - want)[:4], "missed:", sorted(want - got)[:4])


if __name__ == "__main__":
    words = [w for w in sys.argv[1:] if w != "-v"]
    main(int(words[0]) if words else 20, words[1:] or list(KINDS))
