"""Seeded fault scenarios, from one dead device to a mixture of kinds at ten per cent."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from healthy_cluster import make_cluster
from make_believe_fabric import Fabric

from rankready.model.cluster import Generation
from rankready.products import atlas_a1, atlas_a2

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.kind.product import Product
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

SMALL = (2, 3, 4, 5, 8, 16, 17, 32)
LARGE = (33, 64, 128, 129, 256, 512, 1024)
PACKETS = 150  # that each device of a small cluster sees, so that a loss of 5 % shows (facts/mesh 7, 11)


@dataclass(frozen=True)
class Scenario:
    """A fabric with faults, and what to know to probe it."""

    name: str
    fabric: Fabric
    product: Product
    sparse_k: int
    packets: int = 0


def scenario(seed: int, kind: str, servers: int) -> Scenario:
    """Make one scenario: the same seed, kind and size give the same faults."""
    rng = random.Random(f"{kind}{servers}{seed}")  # noqa: S311  (a simulation)
    generation = rng.choice((Generation.A1, Generation.A2)) if servers <= 32 else Generation.A2
    cluster = _cluster(servers, generation)
    leaf_size = 32 if servers > 64 else max(3, servers // 4)
    fabric = Fabric(cluster=cluster, seed=rng.randrange(1 << 30), leaf_size=leaf_size, background=1e-5, noise=1)
    KINDS[kind](fabric, rng)
    product = atlas_a1.PRODUCT if generation is Generation.A1 else atlas_a2.PRODUCT
    lossy = kind in LOSSY
    return Scenario(
        name=f"{kind} N={servers} seed={seed}",
        fabric=fabric,
        product=product,
        sparse_k=16 if lossy else 8,
        packets=PACKETS if lossy and servers <= 32 else 0,
    )


@cache
def _cluster(servers: int, generation: Generation) -> Cluster:
    devices = {2: None, 3: None, 4: None, 5: None, 8: (0, 1, 4, 5), 16: (0, 1, 4), 17: (0, 1, 4)}.get(servers, (0, 4))
    return make_cluster(servers, generation, devices=devices if servers <= 128 else (0,))


def _pick(fabric: Fabric, rng: random.Random, share: float = 0.1, most: int = 0) -> list[Place]:
    """One, two, three devices or a share of all, spread so that the sound ones keep the majority of every rail."""
    rails = [list(rail) for _, rail in fabric.cluster.rails()]
    if len(fabric.cluster.servers) == 2:  # rails of one segment are tested together
        merged: dict[object, list[Place]] = {}
        for rail in rails:
            merged.setdefault(fabric.cluster.addressing[rail[0]].interface.network, []).extend(rail)
        rails = list(merged.values())
    room: list[Place] = []
    for rail in rails:
        room += rng.sample(rail, max(1, int(len(rail) * share)))
    rng.shuffle(room)
    count = most or rng.choice((1, 2, 3, len(room)))
    return room[:count]


def _healthy(fabric: Fabric, rng: random.Random) -> None:
    fabric.background = rng.choice((0.0, 1e-5, 1e-4))


def _dead(fabric: Fabric, rng: random.Random) -> None:
    fabric.dead = set(_pick(fabric, rng))


def _link(fabric: Fabric, rng: random.Random) -> None:
    fabric.link_down = set(_pick(fabric, rng))


def _vlan(fabric: Fabric, rng: random.Random) -> None:
    fabric.vlan = {d: rng.randint(1, 3) for d in _pick(fabric, rng)}


def _told_vlan(fabric: Fabric, rng: random.Random) -> None:
    _vlan(fabric, rng)
    fabric.seen_vlan = set(fabric.vlan)


def _twins(fabric: Fabric, rng: random.Random) -> None:
    chosen = _pick(fabric, rng)
    rails = {d.device: [x for x in fabric.cluster.devices() if x.device == d.device] for d in chosen}
    taken = set(chosen)
    for d in chosen:
        free = [x for x in rails[d.device] if x not in taken and x.name != d.name]
        if free and len(taken) * 3 < len(list(fabric.cluster.devices())):
            fabric.twins[d] = rng.choice(free)
            taken.add(fabric.twins[d])
    if not fabric.twins:
        fabric.dead = set(chosen[:1])


def _narrow(fabric: Fabric, rng: random.Random) -> None:
    fabric.narrow = {d: rng.choice((24, 28, 29)) for d in _pick(fabric, rng)}


def _swapped(fabric: Fabric, rng: random.Random) -> None:
    """Swap the cables of two positions of a server; where rails are segments of their own, both lose theirs."""
    for d in _pick(fabric, rng):
        others = [x for x in fabric.cluster.server(d.name).device_places() if x != d]
        free = [x for x in others if all(x not in pair and d not in pair for pair in fabric.swapped)]
        if free and not any(p.name == d.name for pair in fabric.swapped for p in pair):
            fabric.swapped.append((d, rng.choice(free)))
    if not fabric.swapped:
        _dead(fabric, rng)
        return
    network = {d: a.interface.network for d, a in fabric.cluster.addressing.items()}
    apart = {d for pair in fabric.swapped if network[pair[0]] != network[pair[1]] for d in pair}
    fabric.vlan = {d: 1 + n for n, d in enumerate(sorted(apart))}


def _mtu(fabric: Fabric, rng: random.Random) -> None:
    fabric.other_mtu = set(_pick(fabric, rng))


def _tls(fabric: Fabric, rng: random.Random) -> None:
    fabric.tls = set(_pick(fabric, rng))


def _one_way(fabric: Fabric, rng: random.Random) -> None:
    """Everything is lost one way."""
    for d in _pick(fabric, rng):
        rng.choice((fabric.loss_in, fabric.loss_out))[d] = 1.0
    fabric.noise = rng.choice((0, 1, 3))


def _one_way_loss(fabric: Fabric, rng: random.Random) -> None:
    """A part is lost one way."""
    for d in _pick(fabric, rng):
        rng.choice((fabric.loss_in, fabric.loss_out))[d] = rng.uniform(0.1, 0.9)
    fabric.noise = rng.choice((0, 1, 3))


def _loss(fabric: Fabric, rng: random.Random) -> None:
    fabric.loss = {d: rng.uniform(0.05, 0.5) for d in _pick(fabric, rng)}


def _leaf(fabric: Fabric, rng: random.Random) -> None:
    leaf = _whole_leaf(fabric, rng)
    if leaf is None:
        _dead(fabric, rng)
        return
    rng.choice((fabric.dead_leaves, fabric.cut_leaves)).add(leaf)
    if len(fabric.cluster.servers) > 8:  # else the leaf and one more are half of the rail: nobody's majority
        fabric.dead = {d for d in _pick(fabric, rng, 0.05) if fabric.leaf(d) != leaf}


def _whole_leaf(fabric: Fabric, rng: random.Random) -> str | None:
    """A leaf with three devices or more that is less than half of its rail."""
    size: dict[str, int] = {}
    for device in fabric.cluster.devices():
        size[fabric.leaf(device)] = size.get(fabric.leaf(device), 0) + 1
    fit = sorted(leaf for leaf, n in size.items() if n >= 3 and 2 * n < len(fabric.cluster.servers) * 0.8)
    return rng.choice(fit) if fit else None


def _server(fabric: Fabric, rng: random.Random) -> None:
    if len(fabric.cluster.servers) < 4 or len(fabric.cluster.servers[0].devices) < 2:
        _dead(fabric, rng)
        return
    fabric.dead_servers = {rng.choice(fabric.cluster.servers).name}


def _uplinks(fabric: Fabric, rng: random.Random) -> None:
    leaf = _whole_leaf(fabric, rng)
    if leaf is None or len(fabric.cluster.servers) < 128:
        _dead(fabric, rng)
        return
    fabric.dead_uplinks = {leaf: {rng.randrange(fabric.uplinks)}}


def _starved(fabric: Fabric, rng: random.Random) -> None:
    if len(fabric.cluster.servers[0].devices) >= 3 and len(fabric.cluster.servers) >= 8:
        fabric.starved = {rng.choice(fabric.cluster.servers).name: 0.3}


def _rebooting(fabric: Fabric, rng: random.Random) -> None:
    """A server goes away in mid-run; its devices answer again before the end, its own calls are lost for good."""
    began = rng.uniform(0.1, 0.8)
    fabric.rebooting = {rng.choice(fabric.cluster.servers).name: (began, rng.uniform(began, 0.95))}


def _busy(fabric: Fabric, rng: random.Random) -> None:
    fabric.busy, fabric.background = rng.uniform(0.01, 0.2), 1e-4


def _hard(fabric: Fabric, rng: random.Random) -> None:
    """Kinds mixed, each at devices of its own."""
    chosen = _pick(fabric, rng)
    for d in chosen:
        match rng.randrange(7):
            case 0:
                fabric.dead.add(d)
            case 1:
                fabric.link_down.add(d)
            case 2:
                fabric.vlan[d] = rng.randint(1, 2)
            case 3:
                fabric.narrow[d] = rng.choice((24, 28))
            case 4:
                fabric.other_mtu.add(d)
            case 5:
                fabric.tls.add(d)
            case _:
                rng.choice((fabric.loss_in, fabric.loss_out))[d] = 1.0


def _mixed(fabric: Fabric, rng: random.Random) -> None:
    """The same, and lossy ones among them."""
    _hard(fabric, rng)
    taken = {d for d in fabric.cluster.devices() if fabric.touched(d)}
    for d in _pick(fabric, rng):
        if d not in taken and len(fabric.cluster.servers) > 8:
            fabric.loss[d] = rng.uniform(0.05, 0.5)


KINDS: dict[str, Callable[[Fabric, random.Random], None]] = {
    "healthy": _healthy,
    "starved": _starved,
    "rebooting": _rebooting,
    "busy": _busy,
    "dead": _dead,
    "link": _link,
    "vlan": _vlan,
    "told_vlan": _told_vlan,
    "twins": _twins,
    "narrow": _narrow,
    "swapped": _swapped,
    "mtu": _mtu,
    "tls": _tls,
    "leaf": _leaf,
    "server": _server,
    "uplinks": _uplinks,
    "one_way": _one_way,
    "one_way_loss": _one_way_loss,
    "loss": _loss,
    "hard": _hard,
    "mixed": _mixed,
}
QUIET = ("healthy", "starved", "rebooting", "busy")
HARD = (
    "dead", "link", "vlan", "told_vlan", "twins", "narrow", "swapped", "mtu", "tls", "leaf", "server", "uplinks",
    "one_way", "hard",
)  # fmt: skip
LOSSY = ("loss", "mixed", "one_way_loss")
