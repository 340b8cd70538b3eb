"""One root for many: a server or a leaf of which every device is silent."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rankready.mesh.clues import Kind
from rankready.model.place import Place, PlaceKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from rankready.mesh.clues import Clues

_SERVER = 2  # facts/mesh 9, step 5d
_LEAF = 3  # facts/mesh 8, I3


def leaf_place(name: str) -> Place:
    """Name a leaf."""
    return Place(PlaceKind.LEAF, name)


def roots_of(
    clues: Clues, tested: Collection[Place], silent: Collection[Place], islands: Iterable[tuple[Place, ...]]
) -> dict[Place, tuple[Kind, tuple[Place, ...]]]:
    """Return what is down or cut off as a whole, with its devices (facts/mesh 9, step 5).

    Devices that the audit explains by themselves do not count. A leaf is named only where its devices belong to
    several servers: else the server is the simpler answer.
    """
    unexplained = {d for d in silent if not clues.dead(d)}
    by_leaf = _grouped(tested, clues.leaf)
    by_server = _grouped(tested, {d: d.name for d in tested})
    found: dict[Place, tuple[Kind, tuple[Place, ...]]] = {}
    covered: set[Place] = set()
    for name, devices in by_leaf.items():
        if len(devices) >= _LEAF and unexplained.issuperset(devices) and len({d.name for d in devices}) > 1:
            found[leaf_place(name)] = (Kind.LEAF, devices)
            covered.update(devices)
    for devices in by_server.values():
        own = [d for d in devices if d not in covered]
        if len(own) >= _SERVER and unexplained.issuperset(devices):
            found[devices[0].owner] = (Kind.SERVER, devices)
    cut_off = {d for group in islands for d in group}
    for name, devices in by_leaf.items():
        alive = tuple(d for d in devices if d not in silent)
        if len(by_leaf) > 1 and len(alive) >= _LEAF and cut_off.issuperset(alive):
            found[leaf_place(name)] = (Kind.LEAF_CUT_OFF, alive)
    return found


def _grouped(devices: Collection[Place], of: Mapping[Place, str]) -> dict[str, tuple[Place, ...]]:
    groups: dict[str, list[Place]] = defaultdict(list)
    for device in sorted(devices):
        if device in of:
            groups[of[device]].append(device)
    return {name: tuple(members) for name, members in groups.items()}
