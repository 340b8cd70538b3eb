"""Which segment each device lives in: by what the user listed, else by the generation's rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.model.change import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Segment
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Device → index into the listed segments; and, for the others, device → number by the generation's rule."""

    listed: Mapping[Place, int]
    ruled: Mapping[Place, int]


def homes(cluster: Cluster, product: Product) -> Homes:
    """Find every device's home. A segment with ``positions`` comes first, then one with ``servers``, then the rest.

    Listed segments without positions are numbered by the generation's rule in the order of the file.
    """
    listed: dict[Place, int] = {}
    ruled: dict[Place, int] = {}
    for server, (named, by_rule) in _by_server(cluster):
        for place in server.device_places():
            number = product.segment_of(place.device)
            home = named.get(place.device, by_rule[number] if number < len(by_rule) else None)
            if home is None:
                ruled[place] = number
            else:
                listed[place] = home
    return Homes(listed=listed, ruled=ruled)


def too_many_listed(cluster: Cluster, product: Product) -> Iterator[Problem]:
    """Yield a problem where more segments without positions are listed for a server than the rule can number."""
    for server, (_, by_rule) in _by_server(cluster):
        if len(by_rule) > product.segments:
            yield Problem(
                rule="positions_split",
                places=(server.place,),
                message=f"{len(by_rule)} segments without positions are listed for {server.name}, "
                f"{product.name} has {product.segments}: {product.segments_rule.en}",
                zh=f"为 {server.name} 列出了 {len(by_rule)} 个未注明号位的网段，"
                f"{product.name} 为 {product.segments} 个：{product.segments_rule.zh}",
            )
            return


def most_listed(cluster: Cluster) -> int:
    """Return how many segments without positions are listed for the server that has the most of them."""
    return max((len(by_rule) for _, (_, by_rule) in _by_server(cluster)), default=0)


_Listed = tuple[dict[int, int], list[int]]


def _by_server(cluster: Cluster) -> Iterator[tuple[Server, _Listed]]:
    """Yield each server with what is listed for it; servers with the same list share one answer."""
    segments = cluster.parameter_plane.segments
    everywhere = [at for at, segment in enumerate(segments) if not segment.servers]
    own: dict[str, list[int]] = {}
    for at, segment in enumerate(segments):
        for name in segment.servers:
            own.setdefault(name, []).append(at)
    shared = _numbered(segments, [], everywhere)
    for server in cluster.servers:
        mine = own.get(server.name)
        yield server, shared if mine is None else _numbered(segments, mine, everywhere)


def _numbered(segments: tuple[Segment, ...], own: list[int], everywhere: list[int]) -> _Listed:
    """Return position → segment for the segments with positions, and the others in the order of the file."""
    named: dict[int, int] = {}
    for at in (*own, *everywhere):
        for position in segments[at].positions:
            named.setdefault(position, at)
    by_rule = [at for at in own if not segments[at].positions]
    return named, by_rule or [at for at in everywhere if not segments[at].positions]
