"""What forbids a plan, found before any write: in what the user wrote, and in what was computed."""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rankready.model.addressing import DeviceAddressing
from rankready.model.change import Problem
from rankready.plan.address_rules import ADDRESS_RULES
from rankready.plan.layout import Memories, gateway_in, lay_out, mixed_families
from rankready.plan.scene import Scene
from rankready.plan.segment_rules import SEGMENT_RULES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, Interface
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

NO_HOSTS: Final[Mapping[str, Collection[Address | Interface]]] = MappingProxyType({})
NO_ANSWERS: Final[Mapping[Address, str]] = MappingProxyType({})


def conflicts(
    cluster: Cluster,
    product: Product,
    addressing: Mapping[Place, DeviceAddressing],
    *,
    hosts: Mapping[str, Collection[Address | Interface]] = NO_HOSTS,
    answering: Mapping[Address, str] = NO_ANSWERS,
) -> tuple[Problem, ...]:
    """Return every conflict; empty means that the plan may be applied (facts/hccn 7.3 to 7.5).

    With an empty ``addressing`` it judges what the user wrote, before anything is computed. ``hosts`` are the servers'
    own addresses as they are now (with a mask, their networks are closed too); ``answering`` are addresses that
    someone answers at, with who that is: the planned device itself is no conflict.

    Rules: duplicate_in_server, duplicate_across_servers, equals_gateway, is_network_address, is_broadcast_address,
    reserved_range, mask_mixed_in_segment, gateway_outside_segment, detect_outside, equals_host_address,
    positions_share_segment, positions_split, answers_elsewhere, mixed_families, too_few_addresses; and
    mask_not_contiguous, by ``mask_problem``, where masks are still text.
    """
    claims = addressing or _typed(cluster)
    scene = Scene(cluster=cluster, product=product, claims=claims, hosts=hosts, answering=answering)
    found = [problem for rule in (*SEGMENT_RULES, *ADDRESS_RULES) for problem in rule(scene)]
    return (*found, *_missing(scene, planned=bool(addressing)))


def mask_problem(mask: str, places: tuple[Place, ...] = ()) -> Problem | None:
    """Return a problem when a dotted IPv4 mask is not a run of ones from the left (255.0.255.0, 0.0.0.255)."""
    try:
        bits = int(IPv4Address(mask))
    except AddressValueError:
        bits = -1
    gap = ~bits & 0xFFFFFFFF
    if bits > 0 and gap & (gap + 1) == 0:
        return None
    return Problem(
        rule="mask_not_contiguous",
        places=places,
        message=f"netmask {mask} is not a run of ones from the left",
        zh=f"子网掩码 {mask} 不是从左起连续的 1",
    )


def _typed(cluster: Cluster) -> dict[Place, DeviceAddressing]:
    typed = cluster.parameter_plane.addresses
    return {
        place: DeviceAddressing(interface=typed[place], gateway=gateway_in(cluster, typed[place].network))
        for place in cluster.devices()
        if place in typed
    }


def _missing(scene: Scene, *, planned: bool) -> Iterator[Problem]:
    """Devices without an address: the rest would silently stay unconfigured (facts/hccn 7.5)."""
    if not planned:
        problem = None if mixed_families(scene.cluster) else lay_out(scene.cluster, scene.product, Memories())
        if isinstance(problem, Problem):
            yield problem
        return
    bare = tuple(place for place in scene.cluster.devices() if place not in scene.claims)
    if bare:
        there = len(scene.claims)
        yield Problem(
            rule="too_few_addresses",
            places=bare,
            message=f"{there} addresses for {there + len(bare)} devices; {bare[0]} has none",
            zh=f"{there + len(bare)} 个设备仅有 {there} 个地址；{bare[0]} 没有地址",
        )
