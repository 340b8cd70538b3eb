"""The cluster with what its devices should carry filled in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.plan.addresses import NOTHING, assign

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, Interface
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place


def planned(
    cluster: Cluster,
    product: Product,
    applied: Mapping[Place, Interface] = NOTHING,
    live: Mapping[Place, Interface] = NOTHING,
    *,
    avoid: Collection[Address] = (),
) -> Cluster:
    """Return the cluster with its addressing; raises PlanError as ``assign`` does."""
    return replace(cluster, addressing=assign(cluster, product, applied=applied, live=live, avoid=avoid))
