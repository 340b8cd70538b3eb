"""The keys of one lab: one that lets its user in, one per server by which the server is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncssh

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KIND = "ssh-ed25519"


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """``client`` is handed to the lab's user; ``hosts`` stay with the servers, by name."""

    client: asyncssh.SSHKey
    hosts: Mapping[str, asyncssh.SSHKey]

    def known_as(self) -> dict[str, str]:
        """Each server's public key in one line."""
        return {name: public(key) for name, key in self.hosts.items()}


def make(names: Iterable[str]) -> Keys:
    """Make fresh keys."""
    return Keys(
        client=asyncssh.generate_private_key(_KIND), hosts={n: asyncssh.generate_private_key(_KIND) for n in names}
    )


def public(key: asyncssh.SSHKey) -> str:
    """The public half in one line."""
    return key.export_public_key().decode().strip()
