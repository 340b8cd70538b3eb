"""Other names and addresses for a cluster, the same ones throughout, so that what belongs together stays visible."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING

from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ruamel.yaml.nodes import Node

_V4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\.\d)(?!\w)")
_V6 = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f:]*::|(?:[0-9A-Fa-f]{1,4}:){7})[0-9A-Fa-f:]{2,39}(?![\w:])")
_MAC = re.compile(r"(?<![\w:])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![\w:])")
_HOME = re.compile(r"(?<=/home/)[A-Za-z0-9_][\w.-]*")
_KEPT_WORDS = frozenset(("root", "localhost", "switch", "direct", "a1", "a2", "a3"))


class Masks:
    """Hands out replacements in the order in which it meets things; deterministic for the same input."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """Take (kind, name) pairs: ``server``, ``host``, ``user``, ``cluster``, ``leaf``."""
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._networks: dict[str, str] = {}
        for kind, name in names:
            if name and name not in self._names and name.lower() not in _KEPT_WORDS and not _address(name):
                self._names[name] = self._fresh(kind)
        longest = sorted(self._names, key=len, reverse=True)
        words = "|".join(map(re.escape, longest))
        self._pattern = re.compile(rf"(?<![A-Za-z0-9_.-])(?:{words})(?![A-Za-z0-9_])") if words else None

    def text(self, text: str) -> str:
        """Return a text with every known name, and every address, replaced."""
        if self._pattern is not None:
            text = self._pattern.sub(lambda m: self._names[m[0]], text)
        text = _HOME.sub(lambda m: self._other("user", m[0]), text)
        text = _MAC.sub(lambda m: self._mac(m[0]), text)
        text = _V4.sub(lambda m: self._v4(m[0]), text)
        return _V6.sub(lambda m: self._v6(m[0]), text)

    def _fresh(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}-{self._counts[kind]:03}"

    def _other(self, kind: str, name: str) -> str:
        known = name in self._names.values() or name.lower() in _KEPT_WORDS
        return name if known else self._names.setdefault(name, self._fresh(kind))

    def _v4(self, text: str) -> str:
        """Devices of one segment stay in one segment: the last number is kept, the network before it is another."""
        found = _address(text)
        if not isinstance(found, IPv4Address) or found.is_loopback or found.is_unspecified or text.startswith("255."):
            return text
        network, _, host = text.rpartition(".")
        if network not in self._networks:
            number = len(self._networks)
            self._networks[network] = f"100.{64 + number // 256 % 64}.{number % 256}"
        return f"{self._networks[network]}.{host}"

    def _v6(self, text: str) -> str:
        found = _address(text)
        if not isinstance(found, IPv6Address) or found.is_loopback or found.is_unspecified:
            return text
        return self._networks.setdefault(f"6 {found}", f"2001:db8::{len(self._networks) + 1:x}")

    def _mac(self, text: str) -> str:
        key = f"m {text.lower().replace('-', ':')}"
        number = len(self._networks) + 1
        return self._networks.setdefault(
            key, f"02:00:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
        )


def names_of(root: Node | None) -> Iterator[tuple[str, str]]:
    """Yield the names in a cluster.yaml: its own, of servers, hosts, users and leaves."""
    if not isinstance(root, MappingNode):
        return
    parts = {str(k.value): v for k, v in root.value}
    if isinstance(name := parts.get("cluster"), ScalarNode):
        yield "cluster", str(name.value)
    yield from _servers(parts.get("servers"))
    yield from _logins(parts.get("ssh"))
    if isinstance(cabling := parts.get("cabling"), MappingNode):
        for _, far in cabling.value:
            yield "leaf", str(far.value).partition("/")[0]


def _servers(node: Node | None) -> Iterator[tuple[str, str]]:
    if isinstance(node, SequenceNode):
        for item in node.value:
            yield from _servers(item)
    elif isinstance(node, MappingNode):
        for key, value in node.value:
            if str(key.value) == "name":
                yield "server", str(value.value)
        yield from _logins(node)
    elif isinstance(node, ScalarNode):
        yield "servers" if "[" in str(node.value) or "," in str(node.value) else "server", str(node.value)


def _logins(node: Node | None) -> Iterator[tuple[str, str]]:
    if not isinstance(node, MappingNode):
        return
    for key, value in node.value:
        if str(key.value) == "user":
            yield "user", str(value.value)
        if str(key.value) in ("ssh", "jump", "host") and isinstance(value, ScalarNode):
            user, at, host = str(value.value).rpartition("@")
            if at:
                yield "user", user
            yield "host", re.sub(r":\d+$", "", host).strip("[]")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
