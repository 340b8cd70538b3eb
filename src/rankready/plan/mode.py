"""The segment rule of A1 by the work mode of its servers: four segments in SMP mode, free in AMP mode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.kind.product import never
from rankready.model.cluster import Generation
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.kind.product import Product
    from rankready.model.cluster import Cluster, Server
    from rankready.model.snapshot import Seen

_SHOWN = 4


def mode_facts(cluster: Cluster) -> tuple[type, ...]:
    """Return the kinds of facts that the rule depends on: only A1 has work modes (facts/hccn 7.1)."""
    return (NpuWorkMode,) if cluster.generation is Generation.A1 else ()


def relaxed(product: Product) -> Product:
    """Return the rules of AMP mode: positions of a server may share a segment or not, as it is written.

    What is computed keeps to the product's own segments, which are legal in both modes.
    """
    rule = product.segments_rule
    return replace(
        product,
        apart=never,
        together=never,
        segments_rule=Text(
            en=f"{rule.en} (within a server not binding: all servers are in AMP mode)",
            zh=f"{rule.zh}（所有服务器均为 AMP 模式，同一服务器内不受此限）",
        ),
    )


def by_mode(product: Product, cluster: Cluster, seen: Seen) -> Product:
    """Return the rules that the servers of a look allow: relaxed where each is known to be in AMP mode, else strict.

    The strict rule then says in its words which servers are not in AMP mode, or not known to be. A look at some of
    the servers decides for those; a look at none knows nothing.
    """
    if not mode_facts(cluster):
        return product
    places = {place.owner for place, _ in seen.snapshot.facts}
    servers = [s for s in cluster.servers if s.place in places] or list(cluster.servers)
    other = {s.name: words for s in servers if (words := _not_amp(s, seen)) is not None}
    return _strict(product, other) if other else relaxed(product)


def _not_amp(server: Server, seen: Seen) -> Text | None:
    fact = seen.at(server.place, NpuWorkMode)
    if fact is None:
        gap = seen.gap(server.place, NpuWorkMode)
        reason = gap.reason if gap else ""
        return Text(en=f"work mode not known: {reason}", zh=f"工作模式未知：{reason}")
    if fact.mode is WorkMode.AMP:
        return None
    return Text(en=f"in {fact.mode} mode", zh=f"{fact.mode} 模式")


def _strict(product: Product, other: dict[str, Text]) -> Product:
    rule, few = product.segments_rule, list(other.items())[:_SHOWN]
    rest = f" (+{len(other) - _SHOWN})" if len(other) > _SHOWN else ""
    en = "; ".join(f"{name} {words.en}" for name, words in few)
    zh = "；".join(f"{name} {words.zh}" for name, words in few)
    return replace(
        product,
        segments_rule=Text(
            en=f"{rule.en} (binding unless all servers are in AMP mode: {en}{rest})",
            zh=f"{rule.zh}（除非所有服务器均为 AMP 模式：{zh}{rest}）",
        ),
    )
