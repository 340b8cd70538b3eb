"""Hosts as typed on a command line → servers, before any cluster.yaml exists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.config._hosts import literal, target
from rankready.config.ranges import MOST_SERVERS, expand
from rankready.model.cluster import Server
from rankready.model.errors import ConfigError, Mistake
from rankready.model.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.model.addressing import Address
    from rankready.model.cluster import Login


def servers(hosts: Sequence[str], common: Login) -> tuple[Server, ...]:
    """Expand ``user@host:port`` and ranges into servers called server1, server2, …; no devices are known yet.

    Raises ConfigError for every argument that is no host, and for an SSH address that is named twice.
    """
    mistakes = _jump_mistakes(common.jump)
    logins: dict[tuple[str, int | None], Login] = {}
    for number, text in enumerate(hosts, 1):
        path = f"HOST {number}"
        try:
            found = [target(t) for t in expand(text)]
        except ValueError as error:
            mistakes.append(_mistake(path, text, "a host such as root@10.0.0.11 or node[1-4]", str(error)))
            continue
        for one in found:
            login = replace(common, host=one.host, user=one.user or common.user, port=one.port or common.port)
            if (one.host.lower(), login.port) in logins:
                mistakes.append(_mistake(path, str(login), "each host once", "named before"))
            logins.setdefault((one.host.lower(), login.port), login)
    if len(logins) > MOST_SERVERS:
        mistakes.append(_mistake("HOST", f"{len(logins)} hosts", f"at most {MOST_SERVERS}", ""))
    if mistakes:
        raise ConfigError(tuple(mistakes))
    return tuple(
        Server(name=f"server{number}", login=login, address=_inside(login), devices=())
        for number, login in enumerate(logins.values(), 1)
    )


def _inside(login: Login) -> Address | None:
    """An SSH address that is one inside the cluster too: an IP address, and not this machine's forwarder."""
    found = literal(login.host)
    return None if found is None or found.is_loopback else found


def _jump_mistakes(jump: str) -> list[Mistake]:
    try:
        for hop in jump.split(",") if jump else ():
            target(hop.strip())
    except ValueError as error:
        return [_mistake("--jump", jump, "a login such as user@gate:22", str(error))]
    return []


def _mistake(path: str, seen: str, expected: str, hint: str) -> Mistake:
    return Mistake(
        file="(command line)", line=None, path=path, seen=visible(f'"{seen}"'), expected=expected, hint=visible(hint)
    )
