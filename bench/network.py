"""Print the table of the ten kinds of network faults: what each had to show on a lab with real pings, and did show.

python bench/network.py [--each] [SERVERS ...]     default: 2 4 16; exit 1 when a row is not right

On four servers and more all kinds stand at once; --each tries one after another there too.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from lab_stage import stage
from network_table import Row, table, written


def main(sizes: list[int], *, each: bool) -> int:
    """Stand a lab of each size, try every kind on it, print its rows."""
    wrong = 0
    for servers in sizes:
        home = Path(tempfile.mkdtemp(prefix="rankready-network-"))
        began = time.monotonic()
        rows: list[Row] = []
        try:
            with stage(home / "lab", servers=servers, split_ports=True, leaves=2) as made:
                print(f"{servers} servers x 8 devices, door {made.lab.inventory.spec.door}")
                for found in table(made, servers, each=each):
                    print(f"  {found if isinstance(found, str) else written(found)}", flush=True)
                    rows += [found] if isinstance(found, Row) else []
        finally:
            shutil.rmtree(home, ignore_errors=True)
        bad = sum(not row.right for row in rows)
        print(f"{len(rows) - bad} of {len(rows)} rows right, {time.monotonic() - began:.0f} s\n")
        wrong += bad
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main([int(word) for word in sys.argv[1:] if word != "--each"] or [2, 4, 16], each="--each" in sys.argv))
