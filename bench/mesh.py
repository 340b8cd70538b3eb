"""What planning and judging a mesh cost: CPU, memory, rounds against the bound; and the pair list that is not made.

Run: python bench/mesh.py [--naive-most 2000000]

The naive way is a list of (caller, target) names for every probe, as a shell loop over hosts would make it; sizes with
more pairs than ``--naive-most`` are left out of it and said so. Times are of the CPU: a loaded machine does not count.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import resource
import sys
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from healthy_cluster import make_cluster

from rankready.mesh import order, schedule
from rankready.mesh.coverage import coverage
from rankready.mesh.follow import follow_up
from rankready.mesh.ledger import Ledger
from rankready.mesh.probe import Mode
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Generation
from rankready.model.snapshot import Seen, Snapshot
from rankready.products import atlas_a2

if TYPE_CHECKING:
    from rankready.mesh.schedule import Schedule
    from rankready.model.cluster import Cluster

HEAD = (
    "servers",
    "mode",
    "at once",
    "rounds",
    "bound",
    "planned",
    "plan ms",
    "plan KB",
    "own list ms",
    "naive ms",
    "naive MB",
)
SOLVE = (
    "servers",
    "mode",
    "results",
    "ledger MB",
    "coverage s",
    "follow up s",
    "verdicts s",
    "peak MB",
    "blamed",
    "dead",
)
TRIES = 3


def planned(cluster: Cluster, mode: Mode, per_host: int) -> Schedule:
    """Plan as the first plan of a process does: nothing remembered."""
    order.shift_order.cache_clear()
    order.best_seed.cache_clear()
    schedule.shifts_of.cache_clear()
    return schedule.schedule(cluster, atlas_a2.PRODUCT, mode=mode, per_host=per_host)


def naive(cluster: Cluster, mode: Mode) -> list[tuple[str, str]]:
    """Every pair, written down."""
    return [
        (f"{a.name}/{d}", f"{b.name}/{d}")
        for d in cluster.servers[0].devices
        for i, a in enumerate(cluster.servers)
        for b in (cluster.servers if mode is Mode.DIRECTED else cluster.servers[i + 1 :])
        if a is not b
    ]


def measured(cluster: Cluster, mode: Mode, per_host: int, naive_most: int) -> tuple[object, ...]:
    times = []
    gc.collect()
    for _ in range(TRIES):
        began = time.process_time()
        plan = planned(cluster, mode, per_host)
        times.append(time.process_time() - began)
    began = time.process_time()
    calls = sum(1 for _ in plan.calls(cluster.servers[-1].name))
    own = time.process_time() - began
    assert calls == plan.calls_of(cluster.servers[-1].name)
    tracemalloc.start()
    plan = planned(cluster, mode, per_host)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    cells = (
        len(plan.steps) + len(plan.references),
        plan.bound,
        plan.planned,
        f"{1000 * min(times):.1f}",
        f"{size / 1024:.0f}",
    )
    pairs = plan.planned if mode is not Mode.SPARSE else 0
    if not 0 < pairs <= naive_most:
        return (*cells, f"{1000 * own:.1f}", "-", "-")
    tracemalloc.start()
    listed = naive(cluster, mode)
    heap = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(listed) == plan.planned
    del listed
    began = time.process_time()
    naive(cluster, mode)
    took = time.process_time() - began
    return (*cells, f"{1000 * own:.1f}", f"{1000 * took:.1f}", f"{heap / 1e6:.1f}")


def probed(plan: Schedule, every: int) -> tuple[Ledger, int]:
    """The results of a whole run in which every so-many-th device is dead."""
    ledger, dead = Ledger(plan), 0
    for number, block in enumerate(ledger.blocks):
        gone = sum(1 << i for i in range(len(block.group)) if (i + number) % every == every - 1)
        dead += gone.bit_count()
        for i, planned in enumerate(block.planned):
            block.passed[i] = 0 if gone >> i & 1 else planned & ~gone
            block.silent[i] = planned & ~block.passed[i]
    return ledger, dead


def solved(cluster: Cluster, mode: Mode) -> tuple[object, ...]:
    """What it takes to judge a run, a tenth of the devices dead."""
    plan = schedule.schedule(cluster, atlas_a2.PRODUCT, mode=mode)
    seen = Seen(Snapshot())
    tracemalloc.start()
    ledger, dead = probed(plan, 10)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    times = [time.process_time()]
    covered = coverage(plan, ledger)
    times.append(time.process_time())
    follow_up(cluster, atlas_a2.PRODUCT, seen, ledger)
    times.append(time.process_time())
    judged = mesh_verdicts(cluster, seen, ledger, schedule=plan)
    times.append(time.process_time())
    blamed = sum(v.outcome.value == "fail" for v in judged)
    assert covered.proven + covered.failed == plan.planned
    took = [f"{after - before:.2f}" for before, after in itertools.pairwise(times)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return len(ledger), f"{size / 1e6:.1f}", *took, f"{peak:.0f}", blamed, dead


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--naive-most", type=int, default=200_000, metavar="PAIRS")
    most = ask.parse_args().naive_most
    print("".join(f"{c:>12}" for c in HEAD))
    for servers in (2, 16, 128, 1024, 4096):
        cluster = make_cluster(servers, Generation.A2)
        for mode in Mode:
            for per_host in (1, 6, 8):
                cells = (servers, mode.value, per_host, *measured(cluster, mode, per_host, most))
                print("".join(f"{c:>12}" for c in cells), flush=True)
    print("plan KB: the peak while planning. '-': no list (sparse), or more than", f"{most:,} pairs: not tried")
    print("".join(f"{c:>12}" for c in SOLVE))
    for servers in (128, 1024):
        cluster = make_cluster(servers, Generation.A2)
        for mode in (Mode.SPARSE, Mode.DIRECTED):
            cells = (servers, mode.value, *solved(cluster, mode))
            print("".join(f"{c:>12}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
