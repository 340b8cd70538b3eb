"""Seeded fault scenarios, from one dead device to a mixture of kinds at ten per cent."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from healthy_cluster import make_cluster
from make_believe_fabric import Fabric

from rankready.model.cluster import Generation
from rankready.products import atlas_a1, atlas_a2

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankready.kind.product import Product
    from rankready.model.place import Place

SMALL = (2, 3, 4, 5, 8, 16, 17, 32)
LARGE = (33, 64, 128, 129, 256, 512, 1024)


@dataclass(frozen=True)
class Scenario:
    """A fabric with faults, and what to know to probe it."""

    name: str
    fabric: Fabric
    product: Product
    sparse_k: int


def scenario(seed: int, kind: str, servers: int) -> Scenario:
    """Make one scenario: the same seed, kind and size give the same faults."""
    rng = random.Random(f"{kind}{servers}{seed}")  # noqa: S311  (a simulation)
    generation = rng.choice((Generation.A1, Generation.A2)) if servers <= 32 else Generation.A2
    devices = None if servers <= 32 else ((0, 1) if servers <= 128 else (0,))
    cluster = make_cluster(servers, generation, devices=devices)
    leaf_size = 32 if servers > 64 else max(3, servers // 4)
    fabric = Fabric(cluster=cluster, seed=seed, leaf_size=leaf_size, background=1e-5)
    KINDS[kind](fabric, rng)
    product = atlas_a1.PRODUCT if generation is Generation.A1 else atlas_a2.PRODUCT
    return Scenario(f"{kind} N={servers} seed={seed}", fabric, product, 16 if kind in ("loss", "mixed") else 8)


def _pick(fabric: Fabric, rng: random.Random, share: float = 0.1) -> list[Place]:
    """Some devices, at most a share of each rail, at least one in all."""
    chosen: list[Place] = []
    for _, rail in fabric.cluster.rails():
        most = int(len(rail) * share)
        chosen += rng.sample(rail, rng.randint(0, most)) if most else []
    return chosen or [rng.choice(list(fabric.cluster.devices()))]


def _healthy(fabric: Fabric, rng: random.Random) -> None:
    fabric.background = rng.choice((0.0, 1e-5, 1e-4))


def _dead(fabric: Fabric, rng: random.Random) -> None:
    fabric.dead = set(_pick(fabric, rng))


def _vlan(fabric: Fabric, rng: random.Random) -> None:
    chosen = _pick(fabric, rng)
    fabric.vlan = {d: rng.randint(1, 3) for d in chosen}


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
    server = rng.choice(fabric.cluster.servers).name
    fabric.dead_servers = {server}


def _uplinks(fabric: Fabric, rng: random.Random) -> None:
    leaf = _whole_leaf(fabric, rng)
    if leaf is None or len(fabric.cluster.servers) < 128:
        _dead(fabric, rng)
        return
    fabric.dead_uplinks = {leaf: {rng.randrange(fabric.uplinks)}}


def _starved(fabric: Fabric, rng: random.Random) -> None:
    if len(fabric.cluster.servers[0].devices) >= 3 and len(fabric.cluster.servers) >= 8:
        fabric.starved = {rng.choice(fabric.cluster.servers).name: 0.3}


def _mixed(fabric: Fabric, rng: random.Random) -> None:
    chosen = _pick(fabric, rng, 0.08)
    rng.shuffle(chosen)
    third = len(chosen) // 3
    fabric.dead = set(chosen[:third])
    fabric.loss = {d: rng.uniform(0.1, 0.5) for d in chosen[third : 2 * third]}
    fabric.vlan = {d: rng.randint(1, 2) for d in chosen[2 * third :]}


KINDS: dict[str, Callable[[Fabric, random.Random], None]] = {
    "healthy": _healthy,
    "dead": _dead,
    "vlan": _vlan,
    "leaf": _leaf,
    "server": _server,
    "uplinks": _uplinks,
    "starved": _starved,
    "loss": _loss,
    "mixed": _mixed,
}
HARD = ("dead", "vlan", "leaf", "server")
