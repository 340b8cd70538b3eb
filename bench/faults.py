"""How often the culprit is named, over seeded faults on a simulated fabric.

Run: ``python bench/faults.py [--hard 10000] [--loss 1000] [--quiet 10000] [--seed 0] [--jobs 1] [--minutes M] [-v]``.
The numbers say how many scenarios of each family are made; sizes are drawn so that small clusters are many and large
ones few (see ``SIZES``). A call sends three packets; the hash that spreads flows over uplinks is not known to the
localiser. Losses are sought with 150 packets a device on up to 32 servers (``mesh --packets 150``), with 16 shifts
beyond. ``--minutes`` stops there and prints what was made.

Columns: ``too much`` false alarms, ``missed`` faults not named; ``ambiguity`` parts in the average set of suspects;
``wrong one`` single suspects that are none; ``ways`` faults with a direction, of which it was named ``right``,
``wrong``, or said to be ``unknown``; ``claimed`` directions named where packets were lost both ways; seconds are CPU
time of the localiser alone.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter, defaultdict
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from make_believe_fabric import failing, truth, walk

from rankready.mesh.clues import Kind
from rankready.mesh.localise import localise
from rankready.model.finding import Certainty
from scenarios import HARD, KINDS, LOSSY, QUIET, scenario

SIZES = {
    2: 120, 3: 120, 4: 120, 5: 120, 8: 160, 16: 120, 17: 100, 32: 40, 33: 40, 64: 30, 128: 15, 129: 6, 256: 5, 512: 2,
    1024: 2,
}  # fmt: skip
COLUMNS = (
    "kind", "runs", "faults", "precision", "recall", "exact", "too much", "missed", "ambiguity", "wrong one",
    "ways", "right", "wrong", "unknown", "claimed", "calls/dev", "p95 s", "max s",
)  # fmt: skip
ONE_OF = (Kind.PAIR, Kind.FIBRE, Kind.PATH, Kind.PARTITION)
Told = tuple[str, Counter[str], float, str]


def main(wanted: argparse.Namespace) -> None:
    began = time.perf_counter()
    print(f"seed {wanted.seed}, load {os.getloadavg()[0]:.1f} at the start")
    cases = [
        *_cases("hard", HARD, wanted.hard, wanted.seed),
        *_cases("loss", LOSSY, wanted.loss, wanted.seed),
        *_cases("quiet", QUIET, wanted.quiet, wanted.seed),
    ]
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    solve: dict[str, list[float]] = defaultdict(list)
    with Pool(wanted.jobs) as pool:
        told = pool.imap(one, [c[1:] for c in cases], chunksize=16)
        for n, (family, (kind, counted, seconds, wrong)) in enumerate(zip((c[0] for c in cases), told, strict=True), 1):
            for name in (kind, f"= {family}"):
                sums[name].update(counted)
                solve[name].append(seconds)
            if wrong and wanted.verbose:
                print(wrong, flush=True)
            if n % 1000 == 0:
                print(f"{n} of {len(cases)} after {time.perf_counter() - began:.0f} s", file=sys.stderr)
            if wanted.minutes and time.perf_counter() - began > 60 * wanted.minutes:
                print(f"stopped by --minutes after {n} of {len(cases)} scenarios")
                break
    _table(sums, solve)
    made = sum(s["runs"] for name, s in sums.items() if name in KINDS)
    print(f"{made} scenarios in {time.perf_counter() - began:.0f} s with {wanted.jobs} process(es)")
    _large(wanted.seed)


def _cases(family: str, kinds: tuple[str, ...], count: int, seed: int) -> list[tuple[str, str, int, int]]:
    rng = random.Random(f"{family}{seed}")  # noqa: S311  (a simulation)
    sizes = rng.choices(list(SIZES), list(SIZES.values()), k=count)
    return [(family, kinds[n % len(kinds)], size, seed * 1_000_000 + n) for n, size in enumerate(sizes)]


def one(case: tuple[str, int, int]) -> Told:
    """Make a scenario, probe it, and count what was said."""
    kind, servers, seed = case
    made = scenario(seed, kind, servers)
    fabric = made.fabric
    judged, results = walk(fabric, made.product, sparse_k=made.sparse_k, packets=made.packets)
    got, want = failing(judged), truth(fabric)
    began = time.process_time()
    where = localise(fabric.cluster, fabric.seen(), results, audit=fabric.audit(), trials=fabric.trials)
    seconds = time.process_time() - began
    right_places = {p for _, p in want}
    sized = [len(s.places) if s.kind in ONE_OF else 1 for s in where.suspects if s.kind is not Kind.SLOW_HOST]
    blamed = [
        s
        for s in where.suspects
        if s.certainty is not Certainty.MAYBE and len(s.places) == 1 and s.kind is not Kind.SLOW_HOST
    ]
    counted = Counter(
        runs=1,
        want=len(want),
        got=len(got),
        right=len(got & want),
        exact=got == want,
        suspects=len(sized),
        sized=sum(sized),
        wrong_one=sum(str(s.places[0]) not in right_places for s in blamed),
        calls=len(results),
        devices=sum(1 for _ in fabric.cluster.devices()),
    )
    kinds = {s.places[0]: s.kind for s in where.suspects}
    for device in (d for d in (*fabric.loss_in, *fabric.loss_out) if str(d) in right_places):  # else its server is it
        told = kinds.get(device)
        meant = Kind.ONE_WAY_IN if device in fabric.loss_in else Kind.ONE_WAY_OUT
        counted["ways"] += 1
        counted["way right"] += told is meant
        counted["way wrong"] += told in (Kind.ONE_WAY_IN, Kind.ONE_WAY_OUT) and told is not meant
    for device in (*fabric.loss, *fabric.dead):
        counted["way claimed"] += kinds.get(device) in (Kind.ONE_WAY_IN, Kind.ONE_WAY_OUT)
    wrong = "" if got == want else f"{made.name}: too much {sorted(got - want)[:4]}, missed {sorted(want - got)[:4]}"
    return kind, counted, seconds, wrong


def _table(sums: dict[str, Counter[str]], solve: dict[str, list[float]]) -> None:
    print("".join(f"{c:>13}" if n == 0 else f"{c:>10}" for n, c in enumerate(COLUMNS)))
    for kind in (*(k for k in KINDS if k in sums), *(k for k in sums if k not in KINDS)):
        s, took = sums[kind], sorted(solve[kind])
        ways = s["ways"]
        cells = (
            f"{s['runs']}",
            f"{s['want']}",
            f"{s['right'] / s['got'] if s['got'] else 1:.5f}",
            f"{s['right'] / s['want'] if s['want'] else 1:.5f}",
            f"{s['exact'] / s['runs']:.4f}",
            f"{s['got'] - s['right']}",
            f"{s['want'] - s['right']}",
            f"{s['sized'] / s['suspects'] if s['suspects'] else 0:.2f}",
            f"{s['wrong_one']}",
            f"{ways}",
            f"{s['way right'] / ways:.4f}" if ways else "-",
            f"{s['way wrong']}" if ways else "-",
            f"{ways - s['way right'] - s['way wrong']}" if ways else "-",
            f"{s['way claimed']}",
            f"{s['calls'] / s['devices']:.1f}",
            f"{took[int(0.95 * len(took))]:.3f}",
            f"{took[-1]:.3f}",
        )
        print(f"{kind:>13}" + "".join(f"{c:>10}" for c in cells))


def _large(seed: int) -> None:
    """Time the localiser alone on 1,024 servers of which a tenth is faulty."""
    took = []
    for n in range(5):
        made = scenario(seed + n, "dead" if n % 2 else "mixed", 1024)
        fabric = made.fabric
        if n % 2:
            rail = list(fabric.cluster.devices())
            fabric.dead = set(random.Random(n).sample(rail, len(rail) // 10))  # noqa: S311  (a simulation)
        _, results = walk(fabric, made.product, sparse_k=made.sparse_k)
        began = time.process_time()
        localise(fabric.cluster, fabric.seen(), results, audit=fabric.audit())
        took.append(time.process_time() - began)
    print("1,024 servers, a tenth faulty, solved in CPU s: " + ", ".join(f"{t:.2f}" for t in took))


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    for family, count in (
        ("hard", 10_000),
        ("loss", 1_000),
        ("quiet", 10_000),
        ("seed", 0),
        ("jobs", 1),
        ("minutes", 0),
    ):
        asked.add_argument(f"--{family}", type=int, default=count)
    asked.add_argument("-v", "--verbose", action="store_true")
    main(asked.parse_args())
