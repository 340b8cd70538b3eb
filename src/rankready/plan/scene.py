"""All that a conflict rule may look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, DeviceAddressing, Interface
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A cluster and what its devices are to carry.

    ``claims`` is the addressing, or the typed-in addresses before there is one. ``hosts`` are the servers' own
    addresses, ``answering`` who answers at an address now.
    """

    cluster: Cluster
    product: Product
    claims: Mapping[Place, DeviceAddressing]
    hosts: Mapping[str, Collection[Address | Interface]]
    answering: Mapping[Address, str]
