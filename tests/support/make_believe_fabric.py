"""A fabric in memory: faults go in, probe results come out, and the truth is known.

Reachability is derived from parts: a device's port, its VLAN, its loss, its leaf, the leaf's uplinks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.mesh.follow import follow_up
from rankready.mesh.probe import ProbeResult
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.finding import Outcome
from rankready.model.observed.device import Neighbour, NeighbourKind
from rankready.model.place import Place, PlaceKind, server_place
from rankready.model.snapshot import Gap, Seen, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.kind.product import Product
    from rankready.mesh.probe import Mode, Probe
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict

Truth = set[tuple[str, str]]


@dataclass(kw_only=True)
class Fabric:
    """Parts that may be broken. ``leaf_size``: servers on one leaf. Loss is per device, one way, 0 to 1."""

    cluster: Cluster
    seed: int = 0
    leaf_size: int = 32
    uplinks: int = 16
    background: float = 0.0
    dead: set[Place] = field(default_factory=set)
    vlan: dict[Place, int] = field(default_factory=dict)
    loss: dict[Place, float] = field(default_factory=dict)
    dead_leaves: set[str] = field(default_factory=set)
    cut_leaves: set[str] = field(default_factory=set)
    dead_uplinks: dict[str, set[int]] = field(default_factory=dict)
    dead_servers: set[str] = field(default_factory=set)
    starved: dict[str, float] = field(default_factory=dict)
    gaps: dict[tuple[Place, Place], Gap] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)  # noqa: S311  (a simulation)
        self.position = {s.name: i for i, s in enumerate(self.cluster.servers)}

    def leaf(self, device: Place) -> str:
        """The leaf of a device: each rail has its own leaves."""
        return f"leaf{self.position[device.name] // self.leaf_size}r{device.device}"

    def seen(self) -> Seen:
        """What LLDP tells: the leaf of every device (no VLAN: probes must find that themselves)."""
        return Seen(
            Snapshot(
                facts={
                    (d, Neighbour): Neighbour(kind=NeighbourKind.SWITCH, system=self.leaf(d), port=f"p{n}")
                    for n, d in enumerate(self.cluster.devices())
                }
            )
        )

    def answer(self, probe: Probe) -> ProbeResult:
        """Make one call of three packets."""
        gap = self.gaps.get((probe.source, probe.target))
        if gap is not None:
            return ProbeResult(probe=probe, gap=gap)
        if probe.source.name in self.dead_servers:
            return ProbeResult(probe=probe, gap=UNREACHED)
        chance = self._survival(probe.source, probe.target)
        return ProbeResult(probe=probe, sent=3, received=sum(self.rng.random() < chance for _ in range(3)))

    def _survival(self, a: Place, b: Place) -> float:
        if a in self.dead or b in self.dead or b.name in self.dead_servers:
            return 0.0
        if self.vlan.get(a, 0) != self.vlan.get(b, 0) or not self._path(a, b):
            return 0.0
        kept = (1 - self.loss.get(a, 0.0)) * (1 - self.loss.get(b, 0.0)) * (1 - self.background)
        return kept * (1 - self.starved.get(a.name, 0.0))

    def _path(self, a: Place, b: Place) -> bool:
        leaves = {self.leaf(a), self.leaf(b)}
        if leaves & self.dead_leaves:
            return False
        if len(leaves) == 1:
            return True
        if leaves & self.cut_leaves:
            return False
        lanes = {self._lane(a, b), self._lane(b, a)}  # the echo takes its own way back
        return not any(lanes & self.dead_uplinks.get(leaf, set()) for leaf in leaves)

    def _lane(self, a: Place, b: Place) -> int:
        return random.Random(f"{self.seed}{a}{b}").randrange(self.uplinks)  # noqa: S311  (an ECMP hash)


UNREACHED = Gap("the server does not answer")


def walk(
    fabric: Fabric, product: Product, *, mode: Mode | None = None, sparse_k: int = 8, waves: int = 3
) -> tuple[tuple[Verdict, ...], list[ProbeResult]]:
    """Schedule, probe, follow up and judge, as a run does."""
    leaf = fabric.leaf_size if len(fabric.cluster.servers) > fabric.leaf_size else 0
    plan = schedule(fabric.cluster, product, mode=mode, sparse_k=sparse_k, per_host=8, leaf=leaf)
    results = [fabric.answer(p) for probes in plan.rounds for p in probes]
    seen = fabric.seen()
    for _ in range(waves):
        more = follow_up(fabric.cluster, product, seen, results)
        if not more:
            break
        results += [fabric.answer(p) for p in more]
    return mesh_verdicts(fabric.cluster, seen, results, schedule=plan), results


def failing(judged: Iterable[Verdict]) -> Truth:
    """What a run blames, as (code, place)."""
    return {(v.code, str(v.place)) for v in judged if v.outcome is Outcome.FAIL}


def truth(fabric: Fabric) -> Truth:
    """What a perfect run would blame."""
    found: Truth = set()
    for device in (*fabric.dead, *fabric.vlan):
        down = fabric.leaf(device) in fabric.dead_leaves or device.name in fabric.dead_servers
        if not down:
            found.add(("NET009", str(device)))
    found |= {("NET009", str(server_place(s))) for s in fabric.dead_servers}
    found |= {("NET009", str(Place(PlaceKind.LEAF, leaf))) for leaf in fabric.dead_leaves | fabric.cut_leaves}
    found |= {("NET011", leaf) for leaf in fabric.dead_uplinks}
    for server in fabric.cluster.servers:  # all of a server's devices and the server itself look the same
        ends = {("NET009", str(d)) for d in server.device_places()}
        if len(ends) > 1 and ends <= found and not any(_has_mates(fabric, d) for d in server.device_places()):
            found = (found - ends) | {("NET009", server.name)}
    silent = {p for c, p in found if c == "NET009"}
    found |= {("NET010", str(d)) for d in fabric.loss if str(d) not in silent and fabric.leaf(d) not in silent}
    return found


def _has_mates(fabric: Fabric, device: Place) -> bool:
    """Tell whether a device in a wrong VLAN finds others of its rail there: then it is not silent."""
    return device in fabric.vlan and any(
        d != device and d.device == device.device and vlan == fabric.vlan[device] for d, vlan in fabric.vlan.items()
    )
