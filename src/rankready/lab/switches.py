"""Turn the switches of the make-believe tools, which no namespace can hold: one file of them per device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.lab.fault import Expect
from rankready.model.finding import Outcome
from rankready.model.place import cluster_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.lab.fault import Memory
    from rankready.lab.world import World
    from rankready.model.place import Place

_CLUSTER = cluster_place("lab")
_BY_DEVICE = ("CAB001", "CAB002", "CAB003", "CAB004", "CAB005", "NET001", "NET002", "NET004", "NET005", "NET007")
_BY_CLUSTER = ("NET003", "NET006", "NET012", "TLS001")
_OPTICS = ("OPT001", "OPT002", "OPT003", "OPT004", "OPT005", "OPT006")
_IN_CHECK = ("JOB001", "NET008", "NET013", "NET020", *_OPTICS)
_BY_CLUSTER_IN_CHECK = ("NET014", "NET015", "NET016", "NET017", "NET018", "NET019", "NET021", "VER003")


def turn(world: World, device: Place, values: Mapping[str, str]) -> Memory:
    """Set switches of one device; returns what stood there (empty: nothing). Raises LabError."""
    return world.turn(device, values)


def turn_all(world: World, devices: tuple[Place, ...], values: Mapping[str, str]) -> Memory:
    """Set the same switches of several devices; the memory names each by its number."""
    memory: Memory = {}
    for device in devices:
        memory |= {f"{device.device}:{key}": value for key, value in turn(world, device, values).items()}
    return memory


def turn_all_back(world: World, devices: tuple[Place, ...], memory: Memory) -> None:
    """Undo ``turn_all``."""
    for device in devices:
        mine = f"{device.device}:"
        turn(world, device, {key.removeprefix(mine): value for key, value in memory.items() if key.startswith(mine)})


def unknown(*devices: Place) -> tuple[Expect, ...]:
    """What must be said of devices of which the tool tells nothing: each rule that needs it is open, none is passed.

    A rule over the whole cluster is open as well, and so is the mesh: these devices serve no probe.
    """
    found = [_open("check", code, device) for device in devices for code in (*_BY_DEVICE, *_IN_CHECK)]
    found += [_open("mesh", code, device) for device in devices for code in _BY_DEVICE]
    found += [_open(verb, code, _CLUSTER) for verb in ("check", "mesh") for code in _BY_CLUSTER]
    found += [_open("check", code, _CLUSTER) for code in _BY_CLUSTER_IN_CHECK]
    return (*found, _open("mesh", "NET009", _CLUSTER))


def open_in_cluster(code: str) -> tuple[Expect, ...]:
    """A rule over the whole cluster can't be decided, in either verb."""
    return tuple(_open(verb, code, _CLUSTER) for verb in ("check", "mesh"))


def open_in_check(place: Place, *codes: str) -> tuple[Expect, ...]:
    """Rules that only ``check`` judges can't be decided at a place."""
    return tuple(_open("check", code, place) for code in codes)


def _open(verb: str, code: str, place: Place) -> Expect:
    return Expect(verb=verb, code=code, place=place, outcome=Outcome.UNKNOWN)
