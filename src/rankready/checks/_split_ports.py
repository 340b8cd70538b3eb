"""Which devices share one 400G switch port: as planned, else as on the other servers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.checks._cable_layout import ends, half, planned_ends
from rankready.model.place import PlaceKind, device_place

if TYPE_CHECKING:
    from rankready.checks._cable_layout import Ends
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen


@dataclass(frozen=True, slots=True)
class Port400:
    """Device → the others of its 400G port; a device of which nothing tells its port is not there.

    ``port``: the port where the plan names it. ``undivided``: who hears a whole port though a half was planned.
    ``awake``: servers, or leaves where they are planned, of which a device hears something.
    """

    mates: dict[Place, tuple[Place, ...]]
    port: dict[Place, Place]
    undivided: dict[Place, Place]
    awake: frozenset[str]

    def alive(self, device: Place) -> bool:
        """Tell whether the switch, or the server, of a device works elsewhere: else its port is not what fails."""
        port = self.port.get(device)
        return (device.name if port is None else port.name) in self.awake


def ports_of_400g(cluster: Cluster, seen: Seen) -> Port400:
    """Return what the plan says of shared 400G ports; without a plan, what other servers show of each position."""
    found = ends(cluster, seen)
    heard = frozenset({d.name for d in found} | {e.name for e in found.values()})
    bases = {d: known for d, end in planned_ends(cluster).items() if (known := half(end)) is not None}
    if not bases:
        return Port400(_as_elsewhere(cluster, found), {}, {}, heard)
    shared: dict[Place, list[Place]] = {}
    for device, (base, _) in bases.items():
        shared.setdefault(base, []).append(device)
    return Port400(
        mates={d: tuple(o for o in shared[base] if o != d) for d, (base, _) in bases.items()},
        port={d: base for d, (base, _) in bases.items()},
        undivided={d: base for d, (base, part) in bases.items() if part and found.get(d) == base},
        awake=heard,
    )


def _as_elsewhere(cluster: Cluster, found: Ends) -> dict[Place, tuple[Place, ...]]:
    """Pair positions as the halves of one port pair them wherever both are heard; two answers are none."""
    halves: dict[tuple[str, Place], list[int]] = {}
    for device, end in found.items():
        if end.kind is PlaceKind.PORT and (known := half(end)) is not None and known[1]:
            halves.setdefault((device.name, known[0]), []).append(device.device)
    votes: dict[int, set[int]] = {}
    for positions in halves.values():
        for one in positions if len(positions) > 1 else ():
            votes.setdefault(one, set()).update(p for p in positions if p != one)
    return {
        device_place(server.name, one): (device_place(server.name, other),)
        for server in cluster.servers
        for one in server.devices
        if len(mates := votes.get(one, set())) == 1 and (other := next(iter(mates))) in server.devices
    }
