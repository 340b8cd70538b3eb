"""Extra probes that tell which end of a pair is at fault where a rail has only two devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.mesh.reach import may_probe, probe
from rankready.model.cluster import Topology

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rankready.kind.product import Product
    from rankready.mesh.probe import Probe
    from rankready.mesh.reach import Group
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

_ENOUGH = 3  # a rail of three names its culprit itself (facts/mesh 8, I1)
_PARTNERS = 2


def references(
    cluster: Cluster, product: Product, rails: tuple[tuple[Group, ...], ...], *, per_host: int
) -> tuple[tuple[Probe, ...], ...]:
    """Return rounds of probes between different rails of one segment, for devices whose rail is a single pair.

    Every such device gets at least two partners beyond its rail where the plan and the product allow it
    (facts/mesh 8, "use references"). Between directly joined servers there are none.
    """
    if cluster.topology is Topology.DIRECT:
        return ()
    lonely = {d for groups in rails for g in groups if 1 < len(g) < _ENOUGH for d in g}
    if not lonely:
        return ()
    segments: dict[Hashable, list[Place]] = {}
    for device in cluster.devices():
        if device in lonely:
            segments.setdefault(cluster.addressing[device].interface.network, []).append(device)
    extra = [p for members in segments.values() for p in _around(cluster, product, members)]
    return _rounds(extra, per_host)


def _around(cluster: Cluster, product: Product, members: list[Place]) -> list[Probe]:
    """Walk the segment by shifts that lead to another server's other rail, until everyone has partners enough."""
    size = len(members)
    partners: dict[Place, set[Place]] = {d: set() for d in members}
    found: list[Probe] = []
    for shift in (size // 2 + 1, size // 2 + 2, 1):
        if min(len(p) for p in partners.values()) >= _PARTNERS:
            break
        for i, source in enumerate(members):
            target = members[(i + shift) % size]
            if source.device == target.device or target in partners[source]:
                continue
            if min(len(partners[source]), len(partners[target])) >= _PARTNERS:
                continue
            if may_probe(cluster, product, source, target):
                found.append(probe(cluster, source, target))
                partners[source].add(target)
                partners[target].add(source)
    return found


def _rounds(extra: list[Probe], per_host: int) -> tuple[tuple[Probe, ...], ...]:
    """Put each probe into the first round in which both ends are free and the host has a call left."""
    rounds: list[list[Probe]] = []
    for p in extra:
        for known in rounds:
            if _fits(p, known, per_host):
                known.append(p)
                break
        else:
            rounds.append([p])
    return tuple(tuple(r) for r in rounds)


def _fits(p: Probe, known: list[Probe], per_host: int) -> bool:
    calls = sum(k.source.name == p.source.name for k in known)
    return calls < per_host and all(k.source != p.source and k.target != p.target for k in known)
