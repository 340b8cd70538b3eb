"""Places that the file names: they must be servers and devices of the same file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.config._walk import near, quoted
from rankready.model.place import Place, PlaceKind, cluster_place, parse_place, port_place

if TYPE_CHECKING:
    from rankready.config._servers import Roll
    from rankready.config._walk import Walk


def device(walk: Walk, path: str, text: str, roll: Roll) -> Place | None:
    """Read ``server1/0``; notes what is no device of this file."""
    place = _place(walk, path, text, "a device such as server1/0")
    if place is None:
        return None
    if place.kind is not PlaceKind.DEVICE:
        walk.wrong(path, quoted(text), "a device such as server1/0")
        return None
    return place if _known(walk, path, place, roll) else None


def far_end(walk: Walk, path: str, text: str, roll: Roll) -> Place | None:
    """Read a cable's far end: a port of a leaf, or a device where a server has that name."""
    place = _place(walk, path, text, "a far end such as leaf1/GE1/0/3 or server2/3")
    if place is None:
        return None
    if place.name in roll.by_name:
        return device(walk, path, text, roll)
    if place.kind is PlaceKind.SERVER:
        walk.wrong(path, quoted(text), "a far end such as leaf1/GE1/0/3 or server2/3", near(text, roll.by_name))
        return None
    return port_place(place.name, text.partition("/")[2])


def waived(walk: Walk, path: str, text: str, roll: Roll, *, others: frozenset[Place]) -> Place | None:
    """Read the place of a waiver; ``others`` are leaves, ports and the cluster itself."""
    place = _place(walk, path, text, "a place such as server2/3")
    if place is None:
        return None
    for other in others:
        if str(other) == text and place.name not in roll.by_name:
            return other
    if place.kind is PlaceKind.PORT and place.name not in roll.by_name:
        return place  # a leaf that only LLDP names
    return place if _known(walk, path, place, roll) else None


def cluster_or_leaf(name: str | None, leaves: frozenset[str], ports: frozenset[Place]) -> frozenset[Place]:
    """Collect what a waiver may name besides servers and devices."""
    found = {Place(PlaceKind.LEAF, leaf) for leaf in leaves} | ports
    return frozenset(found | ({cluster_place(name)} if name else set()))


def _place(walk: Walk, path: str, text: str, expected: str) -> Place | None:
    try:
        return parse_place(text)
    except ValueError:
        walk.wrong(path, quoted(text), expected)
        return None


def _known(walk: Walk, path: str, place: Place, roll: Roll) -> bool:
    server = roll.by_name.get(place.name)
    if server is None:
        if roll.whole:
            hint = near(place.name, roll.by_name)
            walk.wrong(path, f"no server is called {quoted(place.name)}", "a server of this file", hint)
        return False
    if place.kind is PlaceKind.DEVICE and place.device not in server.devices:
        walk.wrong(path, f"{place.name} has no device {place.device}", f"one of {', '.join(map(str, server.devices))}")
        return False
    return True
