"""A rank table as far as it can be understood: every value with its place, None where it is missing or no string."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rankready.plan.ranktable.json_text import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.json_text import Node

_NUMBER = re.compile(r"[0-9]{1,20}", re.ASCII)


class Dialect(StrEnum):
    """The layouts that HCCL tells apart by their keys (facts/launch 1.1, 1.2)."""

    SERVER_LIST = "server_list"
    GROUP_LIST = "group_list"  # the old template, without a version
    LAB = "deploy_mode"  # a dialect of the old template


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One value, where it stands."""

    text: str
    line: int
    path: str

    @property
    def number(self) -> int | None:
        """The value as a plain decimal number, else None."""
        return int(self.text) if _NUMBER.fullmatch(self.text) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One device, hence one rank. ``server``: the server_id above it, empty where that can't be read."""

    line: int
    path: str
    server: str = ""
    device_id: Word | None = None
    device_ip: Word | None = None
    backup_device_ip: Word | None = None
    device_port: Word | None = None
    backup_device_port: Word | None = None
    host_port: Word | None = None
    super_device_id: Word | None = None
    rank_id: Word | None = None

    @property
    def device(self) -> int | None:
        """The physical id, where it is a number."""
        return None if self.device_id is None else self.device_id.number

    @property
    def rank(self) -> int | None:
        """The rank, where it is a number."""
        return None if self.rank_id is None else self.rank_id.number

    @property
    def addresses(self) -> tuple[str, ...]:
        """The texts of device_ip: HCCL takes a list with commas too (facts/launch 1.2)."""
        if self.device_ip is None or not self.device_ip.text:
            return ()
        return tuple(self.device_ip.text.split(","))

    @property
    def canonical(self) -> frozenset[str]:
        """The addresses in their one short form: IPv6 can be spelled in many ways."""
        return frozenset(_short(text) for text in self.addresses)


def _short(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One entry of server_list, or of an instance_list (then with its ``pod_name``)."""

    line: int
    path: str
    server_id: Word | None = None
    host_ip: Word | None = None
    pod_name: Word | None = None
    cards: tuple[Card, ...] = ()
    listed: bool = True  # its devices are a list


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """One super pod, and the server_id values that it names."""

    line: int
    path: str
    pod_id: Word | None = None
    named: bool = False  # it has the key, be it of the wrong kind
    servers: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One group of the old template."""

    line: int
    path: str
    instance_count: Word | None = None
    device_count: Word | None = None
    machines: tuple[Machine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A whole table. ``pods`` None: no super_pod_list. ``listed``: server_list is a list."""

    dialect: Dialect
    root: Node
    version: Word | None = None
    status: Word | None = None
    server_count: Word | None = None
    group_count: Word | None = None
    machines: tuple[Machine, ...] = ()
    pods: tuple[Pod, ...] | None = None
    groups: tuple[Group, ...] = ()
    listed: bool = True

    def cards(self) -> Iterator[Card]:
        """Yield all devices, in the file's order."""
        for machine in self.machines:
            yield from machine.cards

    @property
    def super_pods(self) -> bool:
        """Whether HCCL builds super pods from it: version 1.2, a pod list, and super device ids."""
        wanted = self.version is not None and self.version.text == "1.2" and self.pods is not None
        return wanted and any(c.super_device_id is not None for c in self.cards())

    def hosts(self) -> tuple[tuple[str, tuple[Card, ...]], ...]:
        """Return the devices of each server by its server_id: instances of the old template may share a server."""
        if self.dialect is Dialect.SERVER_LIST:
            return tuple((m.server_id.text if m.server_id else "", m.cards) for m in self.machines)
        found: dict[str, tuple[Card, ...]] = {}
        for machine in self.machines:
            name = machine.server_id.text if machine.server_id else ""
            found[name] = (*found.get(name, ()), *machine.cards)
        return tuple(found.items())


def build(root: Node) -> Table:
    """Understand as much of a table as there is; its faults are for the rules."""
    dialect = _dialect(root)
    plain = dialect is Dialect.SERVER_LIST
    groups = () if plain else tuple(_group(g) for g in _items(root, "group_list"))
    machines = (
        tuple(_machine(m, "device") for m in _items(root, "server_list"))
        if plain
        else tuple(m for g in groups for m in g.machines)
    )
    pods = root.get("super_pod_list") if plain else None
    return Table(
        dialect=dialect,
        root=root,
        version=_word(root, "version"),
        status=_word(root, "status"),
        server_count=_word(root, "server_count"),
        group_count=_word(root, "group_count"),
        machines=machines,
        pods=None if pods is None else tuple(_pod(p) for p in _items(root, "super_pod_list")),
        groups=groups,
        listed=_is_list(root, "server_list" if plain else "group_list"),
    )


def _dialect(root: Node) -> Dialect:
    """A table with a version, or with servers, is meant as the plain layout; HCCL goes by the version alone."""
    if root.get("version") is not None or (root.get("server_list") is not None and root.get("group_list") is None):
        return Dialect.SERVER_LIST
    return Dialect.LAB if root.get("deploy_mode") is not None else Dialect.GROUP_LIST


def _group(node: Node) -> Group:
    return Group(
        line=node.line,
        path=node.path,
        instance_count=_word(node, "instance_count"),
        device_count=_word(node, "device_count"),
        machines=tuple(_machine(m, "devices") for m in _items(node, "instance_list")),
    )


def _machine(node: Node, key: str) -> Machine:
    server_id = _word(node, "server_id")
    name = server_id.text if server_id else ""
    return Machine(
        line=node.line,
        path=node.path,
        server_id=server_id,
        host_ip=_word(node, "host_ip"),
        pod_name=_word(node, "pod_name"),
        cards=tuple(_card(c, name) for c in _items(node, key)),
        listed=_is_list(node, key),
    )


def _card(node: Node, server: str) -> Card:
    return Card(
        line=node.line,
        path=node.path,
        server=server,
        device_id=_word(node, "device_id"),
        device_ip=_word(node, "device_ip"),
        backup_device_ip=_word(node, "backup_device_ip"),
        device_port=_word(node, "device_port"),
        backup_device_port=_word(node, "backup_device_port"),
        host_port=_word(node, "host_port"),
        super_device_id=_word(node, "super_device_id"),
        rank_id=_word(node, "rank_id"),
    )


def _pod(node: Node) -> Pod:
    servers = tuple(word for s in _items(node, "server_list") if (word := _word(s, "server_id")) is not None)
    return Pod(
        line=node.line,
        path=node.path,
        pod_id=_word(node, "super_pod_id"),
        named=node.get("super_pod_id") is not None,
        servers=servers,
    )


def _word(node: Node, key: str) -> Word | None:
    found = node.get(key)
    if found is None or found.kind is not Kind.STRING:
        return None
    return Word(text=found.text, line=found.line, path=found.path)


def _items(node: Node, key: str) -> tuple[Node, ...]:
    """Return the objects of a list; anything else among them is a fault of shape, told elsewhere."""
    found = node.get(key)
    return () if found is None else tuple(n for n in found.items if n.kind is Kind.OBJECT)


def _is_list(node: Node, key: str) -> bool:
    found = node.get(key)
    return found is not None and found.kind is Kind.LIST
