"""How long a schedule takes to make, and how many rounds it has against the bound."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from healthy_cluster import make_cluster

from rankready.mesh import order
from rankready.mesh.probe import Mode
from rankready.mesh.schedule import schedule
from rankready.model.cluster import Generation
from rankready.products import atlas_a2

HEAD = ("servers", "mode", "per host", "rounds", "bound", "planned", "make s", "own calls s")


def main() -> None:
    print("".join(f"{c:>13}" for c in HEAD))
    for servers in (2, 16, 128, 1024, 4096):
        cluster = make_cluster(servers, Generation.A2)
        for mode in Mode:
            for per_host in (1, 8):
                order.shift_order.cache_clear()
                order.best_seed.cache_clear()
                began = time.perf_counter()
                plan = schedule(cluster, atlas_a2.PRODUCT, mode=mode, per_host=per_host, leaf=32)
                made = time.perf_counter() - began
                began = time.perf_counter()
                calls = sum(1 for _ in plan.calls("server1"))
                walked = time.perf_counter() - began
                assert calls
                rounds = len(plan.steps) + len(plan.references)
                cells = (servers, mode.value, per_host, rounds, plan.bound, plan.planned)
                print("".join(f"{c:>13}" for c in cells) + f"{made:>13.3f}{walked:>13.3f}")


if __name__ == "__main__":
    main()
