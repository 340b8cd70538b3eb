"""For which generation a table was made, where nobody says so."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.plan.ranktable.table import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Network
    from rankready.plan.ranktable.table import Card, Machine, Table

_LIKELY = (Generation.A2, Generation.A1, Generation.A3)  # on a tie: the fewest rules first
_PREFIX = {4: 24, 6: 64}  # tables hold no masks; segments are seldom smaller


@dataclass(frozen=True, slots=True)
class Guess:
    """The generation that fits best, and the others that fit no worse."""

    best: Generation
    others: tuple[Generation, ...] = ()


def guess(table: Table, products: Mapping[Generation, Product]) -> Guess:
    """Tell the generation by layout, ids and the segments of the addresses (facts/hccn 7.1)."""
    if table.dialect is not Dialect.SERVER_LIST:
        return Guess(Generation.A1)
    if table.super_pods or (table.pods is not None and table.version is not None and table.version.text == "1.2"):
        return Guess(Generation.A3)
    if any(c.super_device_id for c in table.cards()):
        return Guess(Generation.A3)
    scores = {g: sum(_fits(m, products[g]) for m in table.machines) for g in _LIKELY}
    best = [g for g in _LIKELY if scores[g] == max(scores.values())]
    holding = [g for g in best if _holds(table, products[g])] or best
    return Guess(holding[0], tuple(holding[1:]))


def _fits(machine: Machine, product: Product) -> bool:
    """Tell whether positions share segments exactly where this generation's rule says so."""
    nets: dict[int, set[Network]] = {}
    for card in machine.cards:
        if card.device is not None and (net := _network(card)) is not None:
            nets.setdefault(product.segment_of(card.device), set()).add(net)
    return all(len(n) == 1 for n in nets.values()) and len(set().union(*nets.values())) == len(nets)


def _network(card: Card) -> Network | None:
    try:
        found = ip_address(card.addresses[0]) if card.addresses else None
        return None if found is None else ip_network(f"{found}/{_PREFIX[found.version]}", strict=False)
    except ValueError:
        return None


def _holds(table: Table, product: Product) -> bool:
    return all(c.device in product.devices for c in table.cards() if c.device is not None)
