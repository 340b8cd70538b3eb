"""Where something is: ``server2``, ``server2/3`` (device 3), ``leaf1``, ``leaf1/GE1/0/3`` (a port)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

_KEPT = 1 << 17  # places of large clusters: one object each makes every look-up by place an identity test


class PlaceKind(StrEnum):
    """What kind of thing stands at a place."""

    CLUSTER = "cluster"
    SERVER = "server"
    DEVICE = "device"
    LEAF = "leaf"
    PORT = "port"
    FILE = "file"  # a line of a file on this machine; ``name`` is its path, ``device`` the line

    __hash__ = str.__hash__  # the enum's own is Python code, and places are hashed millions of times


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One thing of the cluster. ``device`` is the physical id, as ``hccn_tool -i`` numbers it (facts/hccn 5.2)."""

    kind: PlaceKind
    name: str
    device: int = -1
    port: str = ""

    def __str__(self) -> str:
        """Write the place the way users type it."""
        match self.kind:
            case PlaceKind.DEVICE:
                return f"{self.name}/{self.device}"
            case PlaceKind.PORT:
                return f"{self.name}/{self.port}"
            case PlaceKind.FILE:
                return f"{self.name}:{self.device}"
            case _:
                return self.name

    @property
    def owner(self) -> Place:
        """The server of a device, the leaf of a port; anything else is its own owner."""
        match self.kind:
            case PlaceKind.DEVICE:
                return server_place(self.name)
            case PlaceKind.PORT:
                return Place(PlaceKind.LEAF, self.name)
            case _:
                return self


@lru_cache(maxsize=_KEPT)
def server_place(name: str) -> Place:
    """Name a server."""
    return Place(PlaceKind.SERVER, name)


@lru_cache(maxsize=_KEPT)
def device_place(server: str, device: int) -> Place:
    """Name a device by its physical id."""
    return Place(PlaceKind.DEVICE, server, device=device)


def port_place(leaf: str, port: str) -> Place:
    """Name a port of a leaf, as the switch prints it."""
    return Place(PlaceKind.PORT, leaf, port=port)


def file_place(path: str, line: int) -> Place:
    """Name a line of a file, as editors do: ``train.py:12``."""
    return Place(PlaceKind.FILE, path, device=line)


def cluster_place(name: str) -> Place:
    """Name the whole cluster."""
    return Place(PlaceKind.CLUSTER, name)


def parse_place(text: str) -> Place:
    """Read what a user typed. A bare name is taken for a server; raises ValueError on an empty part."""
    name, slash, rest = text.partition("/")
    if not name or (slash and not rest):
        message = f"{text!r} is no place; expected server2, server2/3 or leaf1/GE1/0/3"
        raise ValueError(message)
    if not slash:
        return server_place(name)
    if rest.isdecimal() and rest.isascii():
        return device_place(name, int(rest))
    return port_place(name, rest)
