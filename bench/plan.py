"""Time and peak memory of planning 4,096 servers of 8 devices, beside the loop that one would write with ipaddress.

Run: python bench/plan.py [--servers 4096]

Each line is measured in a process of its own. The naive loop gives out addresses only: no gateway, no probe target, no
memory of what stands there, and it trusts its pool to be large enough.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from ipaddress import IPv4Interface, IPv4Network
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.product import Product
from rankready.model.cluster import Cluster, Generation, Login, ParameterPlane, Server, Topology
from rankready.plan.addresses import assign
from rankready.plan.conflicts import conflicts

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address

POOL = IPv4Network("10.0.0.0/8")
PREFIX = 18
PRODUCT = next(p for p in catalog.offered("products", "PRODUCT", Product) if p.generation is Generation.A1)


def cluster_of(servers: int) -> Cluster:
    return Cluster(
        name="bench",
        generation=Generation.A1,
        topology=Topology.SWITCH,
        servers=tuple(Server(name=f"server{n}", login=Login(host=f"server{n}")) for n in range(servers)),
        parameter_plane=ParameterPlane(pool=POOL, gateway=1),
    )


def fresh(servers: int) -> Callable[[], int]:
    cluster = cluster_of(servers)
    return lambda: len(assign(cluster, PRODUCT))


def again(servers: int) -> Callable[[], int]:
    cluster = cluster_of(servers)
    applied = {place: a.interface for place, a in assign(cluster, PRODUCT).items()}
    return lambda: len(assign(cluster, PRODUCT, applied=applied))


def judged(servers: int) -> Callable[[], int]:
    cluster = cluster_of(servers)
    addressing = assign(cluster, PRODUCT)
    return lambda: len(addressing) + len(conflicts(cluster, PRODUCT, addressing))


def naive(servers: int) -> Callable[[], int]:
    cluster = cluster_of(servers)

    def loop() -> int:
        networks = list(POOL.subnets(new_prefix=PREFIX))[:4]
        hosts = [list(network.hosts()) for network in networks]
        given: dict[tuple[str, int], IPv4Interface] = {}
        used: set[IPv4Address] = {h[0] for h in hosts}
        for server in cluster.servers:
            for device in server.devices:
                free = hosts[device % 4]
                while free[0] in used or any(free[0] in closed for closed in PRODUCT.reserved):
                    free.pop(0)
                used.add(free[0])
                given[server.name, device] = IPv4Interface(f"{free[0]}/{PREFIX}")
        return len(given)

    return loop


WORK = {
    "assign, nothing known": fresh,
    "assign, all applied": again,
    "conflicts": judged,
    "naive ipaddress loop": naive,
}


def measure(name: str, servers: int) -> tuple[float, float, int]:
    """Return the best of three in seconds, the process's peak memory in MB, and the number of devices."""
    work = WORK[name](servers)
    best, count = float("inf"), 0
    for _ in range(3):
        start = time.perf_counter()
        count = work()
        best = min(best, time.perf_counter() - start)
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=4096)
    servers = parser.parse_args().servers
    print(f"python {' '.join(sys.argv)}   (4 segments of /{PREFIX}, A1 rule)")
    print(f"{'':24}{'seconds':>10}{'peak MB':>10}{'devices':>10}{'naive / this':>14}")
    measured = {}
    for name in WORK:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            measured[name] = pool.apply(measure, (name, servers))
    for name, (seconds, peak, count) in measured.items():
        assert count == servers * 8
        ratio = measured["naive ipaddress loop"][0] / seconds
        print(f"{name:24}{seconds:10.3f}{peak:10.0f}{count:10}{ratio:13.1f}x")


if __name__ == "__main__":
    main()
