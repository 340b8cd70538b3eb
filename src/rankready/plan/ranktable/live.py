"""What the cluster's own devices carry, beside what a rank table says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.addressing import Address
    from rankready.model.place import Place


CONF_KEY: Final[Mapping[int, str]] = {4: "address", 6: "IPv6address"}
"""The key of /etc/hccn.conf that keeps a device's address, by family (facts/hccn 6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCard:
    """One device as it is now. ``carried`` empty and no ``unread``: it has no address.

    ``conf``: the address that /etc/hccn.conf keeps for it; None without ``conf_unread``: none. ``exists`` None: not
    known. ``sdid`` None without ``sdid_unread``: it was not asked.
    """

    place: Place
    carried: tuple[Address, ...] = ()
    unread: str = ""
    conf: Address | None = None
    conf_unread: str = ""
    exists: bool | None = None
    sdid: int | None = None
    sdid_unread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """The cluster beside a table. ``names``: server_id → the cluster's name of that server, where it is known."""

    names: Mapping[str, str] = field(default_factory=dict)
    cards: Mapping[tuple[str, int], LiveCard] = field(default_factory=dict)  # by server_id and physical id
    absent: tuple[str, ...] = ()  # servers of the cluster that the table does not hold
