"""A fabric in memory: faults go in, probe results come out, and the truth is known.

Reachability is derived from parts: a device's port, its VLAN, its address, its loss each way, its leaf, the leaf's
uplinks. Ports count the frames that pass them, and other traffic besides.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import IPv4Interface
from typing import TYPE_CHECKING

from healthy_cluster import healthy_facts, set_address

from rankready.kind.check import verdicts
from rankready.mesh.direction import trial, unsettled, watches
from rankready.mesh.follow import follow_up
from rankready.mesh.localise import localise
from rankready.mesh.probe import ProbeResult
from rankready.mesh.reach import probe
from rankready.mesh.repeat import repeats
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Cable
from rankready.model.finding import Outcome, Verdict
from rankready.model.observed.device import Link, LinkState, Mtu, Neighbour, NeighbourKind, TlsSwitch
from rankready.model.observed.host import Reached
from rankready.model.place import Place, PlaceKind, port_place, server_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot
from rankready.runs.check import checks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from healthy_cluster import Facts

    from rankready.kind.check import Check
    from rankready.kind.product import Product
    from rankready.mesh.direction import Frames, Trial, Watch
    from rankready.mesh.probe import Mode, Probe
    from rankready.mesh.schedule import Schedule
    from rankready.model.cluster import Cluster

Truth = set[tuple[str, str]]

AUDIT = ("NET001", "NET002", "NET003", "NET004", "NET012", "CAB002", "CAB003", "TLS001", "HST001")
BUSY = Gap("the tool is busy", GapKind.BUSY)
UNREACHED = Gap("the server does not answer")
_DOWN = Gap("link is down")
_NEARLY = 0.999


@dataclass(kw_only=True)
class Fabric:
    """Parts that may be broken. ``leaf_size``: servers on one leaf.

    ``loss`` is per device, both ways together, 0 to 1; ``loss_in`` and ``loss_out`` are one way. ``seen_vlan``,
    ``link_down``, ``twins`` (who took whose address), ``narrow`` (prefix length), ``swapped``, ``other_mtu`` and
    ``tls`` are what the audit tells too. ``rebooting``: the server is away for this part of the run, 0 to 1.
    """

    cluster: Cluster
    seed: int = 0
    leaf_size: int = 32
    uplinks: int = 16
    background: float = 0.0
    dead: set[Place] = field(default_factory=set)
    vlan: dict[Place, int] = field(default_factory=dict)
    loss: dict[Place, float] = field(default_factory=dict)
    loss_in: dict[Place, float] = field(default_factory=dict)
    loss_out: dict[Place, float] = field(default_factory=dict)
    dead_leaves: set[str] = field(default_factory=set)
    cut_leaves: set[str] = field(default_factory=set)
    dead_uplinks: dict[str, set[int]] = field(default_factory=dict)
    dead_servers: set[str] = field(default_factory=set)
    starved: dict[str, float] = field(default_factory=dict)
    rebooting: dict[str, tuple[float, float]] = field(default_factory=dict)
    busy: float = 0.0
    noise: int = 0
    counting: bool = True
    gaps: dict[tuple[Place, Place], Gap] = field(default_factory=dict)
    cut: Callable[[Place, Place], bool] | None = None
    seen_vlan: set[Place] = field(default_factory=set)
    link_down: set[Place] = field(default_factory=set)
    twins: dict[Place, Place] = field(default_factory=dict)
    narrow: dict[Place, int] = field(default_factory=dict)
    swapped: list[tuple[Place, Place]] = field(default_factory=list)
    other_mtu: set[Place] = field(default_factory=set)
    tls: set[Place] = field(default_factory=set)
    trials: list[Trial] = field(default_factory=list)
    now: float = 0.0
    watching: bool = False

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)  # noqa: S311  (a simulation)
        self.position = {s.name: i for i, s in enumerate(self.cluster.servers)}
        self.frames: dict[Place, list[int]] = {}

    def leaf(self, device: Place) -> str:
        """The leaf of a device: each rail has its own leaves."""
        return f"leaf{self.position[device.name] // self.leaf_size}r{device.device}"

    @property
    def audited(self) -> bool:
        """Whether anything is wrong that the audit sees."""
        return bool(
            self.seen_vlan or self.link_down or self.twins or self.narrow or self.swapped or self.other_mtu or self.tls
        )

    def touched(self, device: Place) -> bool:
        """Whether something is wrong at a device."""
        kept = (
            *(self.dead, self.vlan, self.loss, self.loss_in, self.loss_out, self.link_down, self.narrow),
            *(self.other_mtu, self.tls, self.twins, self.twins.values(), [d for pair in self.swapped for d in pair]),
        )
        return any(device in part for part in kept)

    def seen(self) -> Seen:
        """What the devices tell: at least, by LLDP, the leaf of every one; all of it where the audit is to see."""
        return Seen(Snapshot(facts=self._facts() if self.audited else self._neighbours()))

    def audit(self) -> tuple[Verdict, ...]:
        """What the checks make of it, and of servers that did not answer to the end."""
        away = {*self.dead_servers, *self.rebooting}
        lost = tuple(
            Verdict(code="HST001", place=server_place(s), outcome=Outcome.UNKNOWN, reason=UNREACHED.reason)
            for s in sorted(away)
        )
        if not self.audited:
            return lost
        known = verdicts(_chosen(), self.planned(), self.seen())
        return (*lost, *(v for v in known if v.code != "HST001" or v.place.name not in away))

    def planned(self) -> Cluster:
        """The cluster with its cables, which only matter where two are swapped."""
        if not self.swapped:
            return self.cluster
        cables = tuple(
            Cable(device=d, far=port_place(self.leaf(d), f"p{n}")) for n, d in enumerate(self.cluster.devices())
        )
        return replace(self.cluster, cables=cables)

    def _neighbours(self) -> Facts:
        return {
            (d, Neighbour): Neighbour(kind=NeighbourKind.SWITCH, system=self.leaf(d), port=f"p{n}")
            for n, d in enumerate(self.cluster.devices())
        }

    def _facts(self) -> Facts:
        facts = {**_healthy(self.cluster)}
        for (d, kind), neighbour in self._neighbours().items():
            pvid = 100 + self.vlan[d] if d in self.seen_vlan else 10
            facts[d, kind] = replace(neighbour, pvid=pvid)  # type: ignore[type-var]
        for a, b in self.swapped:
            facts[a, Neighbour], facts[b, Neighbour] = facts[b, Neighbour], facts[a, Neighbour]
        facts |= {(d, Link): Link(state=LinkState.DOWN) for d in self.link_down}
        facts |= {(d, Mtu): Mtu(size=9000) for d in self.other_mtu}
        facts |= {(d, TlsSwitch): TlsSwitch(enabled=True) for d in self.tls}
        for d, twin in self.twins.items():
            set_address(facts, d, str(self.cluster.addressing[twin].interface), conf=True)
        for d, prefix in self.narrow.items():
            set_address(facts, d, f"{self.cluster.addressing[d].interface.ip}/{prefix}", conf=True)
        for server in {*self.dead_servers}:
            facts[server_place(server), Reached] = UNREACHED
        return facts

    def answer(self, probe: Probe, packets: int = 3) -> ProbeResult:
        """Make one call of three packets."""
        a, b = probe.source, probe.target
        gap = self._gap(a, b)
        if gap is not None:
            return ProbeResult(probe=probe, gap=gap)
        there, back = self._ways(a, b)
        random_, received = self.rng.random, 0
        if not self.watching:
            chance = there * back
            if chance > _NEARLY and random_() < chance**packets:
                return ProbeResult(probe=probe, sent=packets, received=packets)
            if chance > _NEARLY:  # at least one is lost, hence nearly always one
                return ProbeResult(probe=probe, sent=packets, received=packets - 1)
            received = sum(random_() < chance for _ in range(packets)) if chance else 0
            return ProbeResult(probe=probe, sent=packets, received=received)
        for _ in range(packets):
            arrived = random_() < there
            received += arrived and random_() < back
            self._count(a, b, arrived=arrived)
        return ProbeResult(probe=probe, sent=packets, received=received)

    def _gap(self, a: Place, b: Place) -> Gap | None:
        if self.gaps and (a, b) in self.gaps:
            return self.gaps[a, b]
        if a.name in self.dead_servers or self._away(a.name):
            return UNREACHED
        if self.link_down and (a in self.link_down or b in self.link_down):
            return _DOWN
        return BUSY if self.busy and self.rng.random() < self.busy else None

    def _away(self, server: str) -> bool:
        """A server that went away is not asked again in this run."""
        return bool(self.rebooting) and server in self.rebooting and self.now >= self.rebooting[server][0]

    def _count(self, a: Place, b: Place, *, arrived: bool) -> None:
        """What arrived is echoed, hence counted at both; whether the echo arrives is counted by the caller."""
        self.frames.setdefault(a, [0, 0])[0] += 1
        if arrived:
            there = self.frames.setdefault(b, [0, 0])
            there[0] += 1
            there[1] += 1

    def _ways(self, a: Place, b: Place) -> tuple[float, float]:
        """The chance of a packet to arrive, and of its echo."""
        if not self._joined(a, b):
            return 0.0, 0.0
        there = back = 1.0 - self.background / 2
        if self.loss:
            both = ((1 - self.loss.get(a, 0.0)) * (1 - self.loss.get(b, 0.0))) ** 0.5
            there, back = there * both, back * both
        if self.loss_in or self.loss_out:
            there *= (1 - self.loss_out.get(a, 0.0)) * (1 - self.loss_in.get(b, 0.0))
            back *= (1 - self.loss_out.get(b, 0.0)) * (1 - self.loss_in.get(a, 0.0))
        back *= 1 - self.starved.get(a.name, 0.0)
        if self.twins:
            shared = {*self.twins, *self.twins.values()}
            back *= 0.5 if a in shared or b in shared else 1.0
        return there, back

    def _joined(self, a: Place, b: Place) -> bool:
        """Whether anything at all can pass between two devices now."""
        if a in self.dead or b in self.dead or b.name in self.dead_servers:
            return False
        began, ended = self.rebooting.get(b.name, (2.0, 2.0))
        if began <= self.now < ended or self.vlan.get(a, 0) != self.vlan.get(b, 0):
            return False
        return self._path(a, b) and (self.cut is None or not self.cut(a, b)) and self._addressed(a, b)

    def _addressed(self, a: Place, b: Place) -> bool:
        """Nobody answers at an address that its owner gave up; a narrow mask hides who is beyond it."""
        if self.twins and b in self.twins:
            return False
        for one, other in ((a, b), (b, a)):
            if one in self.narrow:
                ip = self.cluster.addressing[one].interface.ip
                if self.cluster.addressing[other].interface.ip not in IPv4Interface(f"{ip}/{self.narrow[one]}").network:
                    return False
        return True

    def _path(self, a: Place, b: Place) -> bool:
        if not (self.dead_leaves or self.cut_leaves or self.dead_uplinks):
            return True
        leaves = {self.leaf(a), self.leaf(b)}
        if leaves & self.dead_leaves:
            return False
        if len(leaves) == 1:
            return True
        if leaves & self.cut_leaves:
            return False
        if not any(leaf in self.dead_uplinks for leaf in leaves):
            return True
        lanes = {self._lane(a, b), self._lane(b, a)}  # the echo takes its own way back
        return not any(lanes & self.dead_uplinks.get(leaf, set()) for leaf in leaves)

    def _lane(self, a: Place, b: Place) -> int:
        return random.Random(f"{self.seed}{a}{b}").randrange(self.uplinks)  # noqa: S311  (an ECMP hash)

    def read(self, *devices: Place) -> dict[Place, Frames]:
        """Read counters; other frames went by meanwhile."""
        if not self.counting:
            return {}
        for device in devices:
            counted = self.frames.setdefault(device, [0, 0])
            counted[0] += self.rng.randint(0, self.noise)
            counted[1] += self.rng.randint(0, self.noise) if self.hears(device) else 0
        return {d: (self.frames[d][0], self.frames[d][1]) for d in devices}

    def hears(self, device: Place) -> bool:
        """Whether anything arrives at a device at all."""
        return device not in self.dead and self.loss_in.get(device, 0.0) < 1

    def tried(self, watch: Watch) -> Trial:
        """Make both bursts of a trial, reading the counters before, between and after them."""
        ends = (watch.reference, watch.suspect)
        readings, calls, self.watching = [self.read(*ends)], [], True
        for a, b in (ends, ends[::-1]):
            made = [self.answer(probe(self.cluster, a, b)) for _ in range(watch.calls)]
            calls.append([(r.sent, r.received) for r in made if r.gap is None])
            got = sum(r.received for r in made)
            if self.frames.get(a) is not None:
                self.frames[a][1] += got
            readings.append(self.read(*ends))
        self.watching = False
        return trial(watch, readings, calls)


@cache
def _chosen() -> tuple[Check, ...]:
    return checks(AUDIT)


_kept: dict[int, tuple[Cluster, Facts]] = {}
_plans: dict[tuple[int, object], tuple[Cluster, Schedule]] = {}


def _healthy(cluster: Cluster) -> Facts:
    """Keep the facts of a cluster: many scenarios share one."""
    found = _kept.get(id(cluster))
    if found is None or found[0] is not cluster:
        found = _kept[id(cluster)] = (cluster, healthy_facts(cluster))
    return found[1]


def _plan(cluster: Cluster, product: Product, *, mode: Mode | None, sparse_k: int, leaf: int) -> Schedule:
    key = (id(cluster), (product.generation, mode, sparse_k, leaf))
    found = _plans.get(key)
    if found is None or found[0] is not cluster:
        made = schedule(cluster, product, mode=mode, sparse_k=sparse_k, per_host=8, leaf=leaf)
        found = _plans[key] = (cluster, made)
    return found[1]


def walk(  # noqa: PLR0913  (what to probe, and four terms that are all named)
    fabric: Fabric,
    product: Product,
    *,
    mode: Mode | None = None,
    sparse_k: int = 8,
    waves: int = 3,
    packets: int = 0,
) -> tuple[tuple[Verdict, ...], list[ProbeResult]]:
    """Schedule, probe, follow up, watch the counters and judge, as a run does.

    ``packets``: the whole plan is probed so often that each device sees that many.
    """
    leaf = fabric.leaf_size if len(fabric.cluster.servers) > fabric.leaf_size else 0
    plan = _plan(fabric.cluster, product, mode=mode, sparse_k=sparse_k, leaf=leaf)
    results: list[ProbeResult] = []
    for _ in range(repeats(plan, packets)):
        results += _probed(fabric, plan)
    seen, audit = fabric.seen(), fabric.audit()
    fabric.now = 1.0
    failed = {v.place: v for v in audit if v.outcome is Outcome.FAIL and v.code not in ("NET012", "TLS001")}
    for _ in range(waves):
        open_ = (
            [r for r in results if r.probe.source not in failed and r.probe.target not in failed] if failed else results
        )
        more = follow_up(fabric.cluster, product, seen, open_, audit=audit)
        if not more:
            break
        results += [fabric.answer(p) for p in more]
    where = localise(fabric.cluster, seen, results, audit=audit)
    rounds = watches(fabric.cluster, product, where)
    fabric.trials = [fabric.tried(w) for watched in rounds for w in watched]
    fabric.trials += [fabric.tried(w) for watched in unsettled(rounds, fabric.trials) for w in watched]
    judged = mesh_verdicts(fabric.cluster, seen, results, audit=audit, schedule=plan, trials=fabric.trials)
    return (*audit, *judged), results


def _probed(fabric: Fabric, plan: Schedule) -> list[ProbeResult]:
    if not fabric.rebooting:
        return [fabric.answer(p) for probes in plan.rounds for p in probes]
    results: list[ProbeResult] = []
    for n, probes in enumerate(plan.rounds):
        fabric.now = n / len(plan.rounds)
        results += [fabric.answer(p) for p in probes]
    return results


def failing(judged: Iterable[Verdict]) -> Truth:
    """What a run blames, as (code, place)."""
    return {(v.code, str(v.place)) for v in judged if v.outcome is Outcome.FAIL}


def truth(fabric: Fabric) -> Truth:
    """What a perfect run would blame."""
    found = _told(fabric)
    known = {p for _, p in found if (("NET012", p) not in found and ("TLS001", p) not in found)}
    for server in fabric.cluster.servers:
        if {str(d) for d in server.device_places()} <= known:
            known.add(server.name)  # nothing is left for it to explain
    found_by_probes = _probed_truth(fabric)
    return found | {(c, p) for c, p in found_by_probes if p not in known}


def _told(fabric: Fabric) -> Truth:
    """What the audit alone finds."""
    found: Truth = {("NET001", str(d)) for d in fabric.link_down}
    found |= {("CAB003", str(d)) for d in fabric.seen_vlan}
    found |= {("NET004", str(d)) for d in fabric.narrow}
    found |= {("NET012", str(d)) for d in fabric.other_mtu}
    found |= {("TLS001", str(d)) for d in fabric.tls}
    found |= {("CAB002", str(d)) for pair in fabric.swapped for d in pair}
    found |= {("NET003", str(d)) for pair in fabric.twins.items() for d in pair}
    return found


def _probed_truth(fabric: Fabric) -> Truth:
    found: Truth = set()
    one_way = {d: max(fabric.loss_in.get(d, 0.0), fabric.loss_out.get(d, 0.0)) for d in _ways_of(fabric)}
    silent_one_way = {d for d, rate in one_way.items() if rate >= 1}
    for device in (*fabric.dead, *fabric.vlan, *silent_one_way):
        down = fabric.leaf(device) in fabric.dead_leaves or device.name in fabric.dead_servers
        if not down:
            found.add(("NET009", str(device)))
    found |= {("NET009", str(server_place(s))) for s in fabric.dead_servers}
    found |= {("NET009", str(Place(PlaceKind.LEAF, leaf))) for leaf in fabric.dead_leaves | fabric.cut_leaves}
    found |= {("NET011", leaf) for leaf in fabric.dead_uplinks}
    for server in fabric.cluster.servers:  # all of a server's devices that are tried and the server look the same
        tried = (d for d in server.device_places() if d not in fabric.link_down)
        own = [d for d in tried if fabric.leaf(d) not in fabric.dead_leaves]
        ends = {("NET009", str(d)) for d in own}
        if len(ends) > 1 and ends <= found and not any(_has_mates(fabric, d) for d in own):
            found = (found - ends) | {("NET009", server.name)}
    silent = {p for c, p in found if c == "NET009"}
    lossy = (*fabric.loss, *(d for d in one_way if d not in silent_one_way))
    found |= {("NET010", str(d)) for d in lossy if str(d) not in silent and fabric.leaf(d) not in silent}
    return found


def _ways_of(fabric: Fabric) -> Sequence[Place]:
    return tuple(dict.fromkeys((*fabric.loss_in, *fabric.loss_out)))


def _has_mates(fabric: Fabric, device: Place) -> bool:
    """Tell whether a device in a wrong VLAN finds others of its rail there: then it is not silent."""
    return device in fabric.vlan and any(
        d != device and d.device == device.device and vlan == fabric.vlan[device] for d, vlan in fabric.vlan.items()
    )
