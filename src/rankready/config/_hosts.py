"""How a server is reached, as one text: ``root@10.0.0.11:22``, ``[fd00::1]:2222``, ``alias``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankready.model.addressing import Address

# a leading hyphen would be read as an option by ssh
_USER = re.compile(r"[A-Za-z0-9_][\w.@\\+$-]*", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}")
_BRACKETED = re.compile(r"\[([0-9A-Fa-f:.]+(?:%[\w.-]+)?)\](?::(.*))?", re.ASCII)
_MOST_PORT = 65535


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A login without what is common to all servers."""

    host: str
    user: str = ""
    port: int | None = None


def target(text: str) -> Target:
    """Read ``user@host:port``; an IPv6 address with a port stands in brackets. ValueError says what is wrong."""
    if "://" in text:
        raise ValueError("write it without ssh://")
    user, at, rest = text.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise ValueError("the part before @ is no login name")
    host, port = _host_port(rest)
    return Target(host=host, user=user, port=None if port is None else _port(port))


def literal(host: str) -> Address | None:
    """Return a host that is an IP address as one, without its zone; a name gives None."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def default_name(host: str) -> str:
    """Name a server by its host part; the colons and zone of an IPv6 address become hyphens."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", host).strip("-.") or "server"


def _host_port(rest: str) -> tuple[str, str | None]:
    bracketed = _BRACKETED.fullmatch(rest)
    if bracketed:
        host, port = bracketed.group(1), bracketed.group(2)
        if literal(host) is None:
            raise ValueError("no IPv6 address stands in the brackets")
        return host, port
    if rest.count(":") > 1:
        if literal(rest) is None:
            raise ValueError("an IPv6 address with a port is written [address]:port")
        return rest, None
    host, colon, port = rest.partition(":")
    if not _HOST.fullmatch(host):
        raise ValueError("no host name" if host else "no host")
    return host, port if colon else None


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and 1 <= int(text) <= _MOST_PORT):  # noqa: PLR2004  (digits of 65535)
        raise ValueError(f"{text or 'nothing'} is no port, 1 to 65535")
    return int(text)
