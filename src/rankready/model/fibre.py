"""Which devices are joined port to port, without a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.place import device_place

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place


def peers(cluster: Cluster) -> dict[Place, Place]:
    """Return who should stand at the other end of each fibre, both ways.

    As the user listed the cables; else servers are joined two by two in the file's order, position by position.
    """
    known = set(cluster.devices())
    listed = [(c.device, c.far) for c in cluster.cables if c.device in known and c.far in known]
    if not listed:
        couples = zip(cluster.servers[::2], cluster.servers[1::2], strict=False)
        listed = [
            (device_place(one.name, d), device_place(two.name, d))
            for one, two in couples
            for d in one.devices
            if d in two.devices
        ]
    return {**{far: near for near, far in listed}, **dict(listed)}
