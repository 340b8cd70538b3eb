"""The segment rule of A1 by the work mode of its servers: four segments in SMP mode, free in AMP mode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.kind.product import never
from rankready.model.cluster import Generation
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.text import Text
from rankready.plan.conflicts import conflicts
from rankready.plan.homes import most_listed

if TYPE_CHECKING:
    from rankready.kind.product import Product
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_SHOWN = 4


def needs_amp(cluster: Cluster, product: Product) -> bool:
    """Tell whether AMP mode changes what is wrong with what the user wrote; only A1 has work modes (facts/hccn 7.1)."""
    if cluster.generation is not Generation.A1:
        return False
    strict = _wrong(cluster, product)
    return bool(strict) and strict != _wrong(cluster, relaxed(product, cluster))


def mode_facts(cluster: Cluster, product: Product) -> tuple[type, ...]:
    """Return the kinds of facts that the rule depends on: none where the plan is legal, or not, in both modes."""
    return (NpuWorkMode,) if needs_amp(cluster, product) else ()


def relaxed(product: Product, cluster: Cluster) -> Product:
    """Return the rules of AMP mode: positions of a server may share a segment or not, as it is written.

    One listed segment without positions and no pool is the one segment of all. What is computed otherwise keeps to the
    product's own segments, which are legal in both modes.
    """
    rule, plane = product.segments_rule, cluster.parameter_plane
    free = replace(
        product,
        apart=never,
        together=never,
        reserved=tuple(n for n in product.reserved if n not in product.open_in_amp),
        segments_rule=Text(
            en=f"{rule.en} (within a server not binding in AMP mode)",
            zh=f"{rule.zh}（AMP 模式下，同一服务器内不受此限）",
        ),
    )
    if plane.pool is not None or most_listed(cluster) != 1:
        return free
    return replace(free, segment_of=_only, segments=1)


def for_a_look(product: Product, cluster: Cluster) -> Product:
    """Return the rules by which devices are judged: a mode that forbids the plan is a finding, no end of the look."""
    return relaxed(product, cluster) if needs_amp(cluster, product) else product


def by_mode(product: Product, cluster: Cluster, seen: Seen) -> Product:
    """Return the rules by which devices may be set: relaxed where each server is known to be in AMP mode, else strict.

    The strict rule then says in its words which servers are not in AMP mode, or not known to be. A server of which
    nothing was read does not count: nothing is set there.
    """
    if not needs_amp(cluster, product):
        return product
    asked, answered = {p.owner for p, _ in seen.snapshot.facts}, {p.owner for p, _ in seen.snapshot.evidence}
    servers = [s for s in cluster.servers if s.place in answered or s.place not in asked]
    other = {s.name: words for s in servers if (words := _not_amp(s, seen)) is not None}
    return _strict(product, other) if other else relaxed(product, cluster)


def _only(_device: int) -> int:
    return 0


def _wrong(cluster: Cluster, product: Product) -> set[tuple[str, tuple[Place, ...]]]:
    return {(problem.rule, problem.places) for problem in conflicts(cluster, product, {})}


def _not_amp(server: Server, seen: Seen) -> Text | None:
    fact = seen.at(server.place, NpuWorkMode)
    if fact is None:
        gap = seen.gap(server.place, NpuWorkMode)
        why = gap.why if gap else Text(en="", zh="")
        return Text(en=f"work mode not known: {why.en}", zh=f"工作模式未知：{why.zh}")
    if fact.mode is WorkMode.AMP:
        return None
    return Text(en=f"in {fact.mode} mode", zh=f"{fact.mode} 模式")


def _strict(product: Product, other: dict[str, Text]) -> Product:
    rule, few = product.segments_rule, list(other.items())[:_SHOWN]
    rest = f" (+{len(other) - _SHOWN})" if len(other) > _SHOWN else ""
    en = "; ".join(f"{name} {words.en}" for name, words in few)
    zh = "；".join(f"{name} {words.zh}" for name, words in few)
    note = Text(
        en=f"unless all servers are in AMP mode ({en}{rest})",
        zh=f"除非所有服务器均为 AMP 模式（{zh}{rest}）",
    )
    return replace(
        product,
        mode_note=note,
        segments_rule=Text(en=f"{note.en}, {rule.en}", zh=f"{note.zh}，否则 {rule.zh}"),
    )
