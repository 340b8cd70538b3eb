"""Rules about segments: one mask, one family, and who must or must not share one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rankready.model.change import Problem
from rankready.model.cluster import Topology
from rankready.model.fibre import peers
from rankready.plan.homes import homes, too_many_listed
from rankready.plan.layout import mixed_families
from rankready.plan.ranges import ends, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.addressing import Network
    from rankready.model.place import Place
    from rankready.plan.scene import Scene

_SHOWN = 4


def families(scene: Scene) -> Iterator[Problem]:
    """IPv4 and IPv6 in one parameter plane."""
    problem = mixed_families(scene.cluster)
    if problem is not None:
        yield problem
        return
    found = {claim.interface.version: place for place, claim in reversed(tuple(scene.claims.items()))}
    if len(found) > 1:
        yield Problem(
            rule="mixed_families",
            places=(found[4], found[6]),
            message=f"IPv4 ({found[4]}) and IPv6 ({found[6]}) are mixed; one family serves all devices of a job",
            zh=f"混用了 IPv4（{found[4]}）与 IPv6（{found[6]}）；同一作业的所有设备须为同一地址族",
        )


def listed_for_rule(scene: Scene) -> Iterator[Problem]:
    """More segments listed than the product's rule can number."""
    yield from too_many_listed(scene.cluster, scene.product)


def mask_mixed_in_segment(scene: Scene) -> Iterator[Problem]:
    """Networks that overlap without being equal: one segment written with two masks."""
    holders: dict[Network, list[Place]] = {s.network: [] for s in scene.cluster.parameter_plane.segments}
    for place, network in _networks(scene).items():
        holders.setdefault(network, []).append(place)
    order = sorted(holders, key=lambda n: (n.version, *ends(n)))
    for at, network in enumerate(order):
        for other in order[at + 1 :]:
            if not overlap(network, other):
                break
            odd = min((network, other), key=lambda n: len(holders[n]) or len(scene.claims))
            yield Problem(
                rule="mask_mixed_in_segment",
                places=tuple(holders[odd]) or (scene.cluster.place,),
                message=f"{network} and {other} overlap: one segment with two masks",
                zh=f"{network} 与 {other} 重叠：同一网段出现两种掩码",
            )


def positions_share_segment(scene: Scene) -> Iterator[Problem]:
    """Positions of one server that must lie in different segments, in one."""
    found: dict[tuple[Network, tuple[int, ...]], list[Place]] = {}
    for places in _by_server(_networks(scene)).values():
        for network, mine in places.items():
            wrong = tuple(a for a in mine if any(scene.product.apart(a.device, b.device) for b in mine))
            if wrong:
                found.setdefault((network, tuple(p.device for p in wrong)), []).extend(wrong)
    for (network, positions), wrong_places in found.items():
        words = ",".join(str(p) for p in positions)
        yield Problem(
            rule="positions_share_segment",
            places=tuple(wrong_places),
            message=f"positions {words} of {_servers(wrong_places)} share segment {network}; "
            f"rule: {scene.product.segments_rule.en}",
            zh=f"{_servers(wrong_places)} 的 {words} 号位同在网段 {network}；规则：{scene.product.segments_rule.zh}",
        )


def positions_split(scene: Scene) -> Iterator[Problem]:
    """Devices that must share a segment, in several: on one server, on one rail without a gateway, on one cable."""
    networks = _networks(scene)
    usual = Counter(networks.values())
    strays: dict[Place, Place] = {}
    for group in (*_server_groups(scene, networks), *_rail_groups(scene, networks)):
        kinds = Counter(networks[place] for place in group)
        if len(kinds) < 2:  # noqa: PLR2004  (one segment, as it should be)
            continue
        right = max(kinds, key=lambda n: (kinds[n], usual[n]))
        model = next(place for place in group if networks[place] == right)
        for place in group:
            if not overlap(networks[place], right):  # a mixed mask is another rule's finding
                strays.setdefault(place, model)
    found: dict[tuple[Network, Network], list[Place]] = {}
    for place, model in strays.items():
        found.setdefault((networks[place], networks[model]), []).append(place)
    for (network, right), places in found.items():
        model = strays[places[0]]
        yield Problem(
            rule="positions_split",
            places=tuple(places),
            message=f"{_words(places)} in segment {network}, {model} in {right}, and must share one; "
            f"rule: {scene.product.segments_rule.en}",
            zh=f"{_words(places)} 在网段 {network}，{model} 在 {right}，二者须同网段；"
            f"规则：{scene.product.segments_rule.zh}",
        )


SEGMENT_RULES = (families, listed_for_rule, mask_mixed_in_segment, positions_share_segment, positions_split)


def _server_groups(scene: Scene, networks: Mapping[Place, Network]) -> Iterator[list[Place]]:
    product = scene.product
    if product.other_plans and any(s.positions for s in scene.cluster.parameter_plane.segments):
        return
    for server in scene.cluster.servers:
        groups: dict[int, list[Place]] = {}
        for place in server.device_places():
            if place in networks:
                groups.setdefault(product.segment_of(place.device), []).append(place)
        for group in groups.values():
            if product.together(group[0].device, group[-1].device):
                yield group


def _rail_groups(scene: Scene, networks: Mapping[Place, Network]) -> Iterator[list[Place]]:
    cluster = scene.cluster
    if cluster.topology is Topology.DIRECT:
        pairs = peers(cluster).items()
        yield from ([one, two] for one, two in pairs if one < two and one in networks and two in networks)
        return
    for _, rail in cluster.rails():
        yield [place for place in rail if place in networks and not _routed(scene, place)]


def _routed(scene: Scene, place: Place) -> bool:
    """Tell whether a device reaches other segments: one segment per leaf with a gateway each is a usual large plan."""
    claim = scene.claims.get(place)
    if claim is not None:
        return claim.gateway is not None
    return any(s.gateway is not None for s in scene.cluster.parameter_plane.segments) or (
        scene.cluster.parameter_plane.gateway is not None
    )


def _networks(scene: Scene) -> dict[Place, Network]:
    """Return each device's segment: by its address, else by the list of segments."""
    segments = scene.cluster.parameter_plane.segments
    listed = homes(scene.cluster, scene.product).listed if segments else {}
    found: dict[Place, Network] = {place: segments[at].network for place, at in listed.items()}
    found.update((place, claim.interface.network) for place, claim in scene.claims.items())
    return found


def _by_server(networks: Mapping[Place, Network]) -> dict[str, dict[Network, list[Place]]]:
    found: dict[str, dict[Network, list[Place]]] = {}
    for place, network in networks.items():
        found.setdefault(place.name, {}).setdefault(network, []).append(place)
    return found


def _words(places: list[Place]) -> str:
    rest = f" (+{len(places) - _SHOWN})" if len(places) > _SHOWN else ""
    return ", ".join(str(p) for p in places[:_SHOWN]) + rest


def _servers(places: list[Place]) -> str:
    names = list(dict.fromkeys(place.name for place in places))
    rest = f" (+{len(names) - _SHOWN})" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + rest
