from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_interface, ip_network
from typing import TYPE_CHECKING, Any

import pytest
from plan_cases import PRODUCTS, bare, typed

from rankready.model.addressing import DeviceAddressing, Segment
from rankready.model.cluster import Cable, Generation, Login, Topology
from rankready.model.place import device_place, parse_place
from rankready.plan.addresses import assign
from rankready.plan.conflicts import conflicts, mask_problem

if TYPE_CHECKING:
    from rankready.model.addressing import Addressing
    from rankready.model.change import Problem
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3


def judged(cluster: Cluster, addressing: Addressing, **more: object) -> tuple[Problem, ...]:
    return conflicts(cluster, PRODUCTS[cluster.generation], addressing, **more)  # type: ignore[arg-type]


def broken(cluster: Cluster, place: str, **parts: str) -> tuple[Addressing, Place]:
    """A good plan of which one device's parts are changed."""
    addressing = assign(cluster, PRODUCTS[cluster.generation])
    where = parse_place(place)
    made: dict[str, Any] = {k: ip_interface(v) if k == "interface" else ip_address(v) for k, v in parts.items()}
    addressing[where] = replace(addressing[where], **made)
    return addressing, where


@pytest.mark.parametrize("generation", Generation)
@pytest.mark.parametrize("topology", Topology)
@pytest.mark.parametrize("pool", ["10.20.0.0/16", "fd00:20::/48"])
def test_a_good_plan_has_no_conflict(generation: Generation, topology: Topology, pool: str) -> None:
    cluster = bare(3, generation, topology, pool=pool, gateway=1)
    assert judged(cluster, {}) == ()
    assert judged(cluster, assign(cluster, PRODUCTS[generation])) == ()


@pytest.mark.parametrize(
    ("rule", "interface"),
    [
        ("duplicate_in_server", "10.20.0.3/24"),
        ("duplicate_across_servers", "10.20.0.10/24"),
        ("equals_gateway", "10.20.0.1/24"),
        ("is_network_address", "10.20.0.0/24"),
        ("is_broadcast_address", "10.20.0.255/24"),
        ("mask_mixed_in_segment", "10.20.0.2/25"),
        ("equals_host_address", "10.20.0.200/24"),
    ],
)
def test_one_wrong_address_is_one_problem_at_its_place(rule: str, interface: str) -> None:
    cluster = bare(2, A2, gateway=1)
    host = replace(cluster.servers[0], address=ip_address("10.20.0.200"))
    cluster = replace(cluster, servers=(host, cluster.servers[1]))
    addressing, where = broken(cluster, "server1/0", interface=interface)
    (problem,) = judged(cluster, addressing)
    assert problem.rule == rule
    assert where in problem.places
    assert interface.split("/", maxsplit=1)[0] in problem.message + problem.zh or rule == "mask_mixed_in_segment"
    assert problem.zh


@pytest.mark.parametrize(
    ("rule", "addresses"),
    [
        ("duplicate_in_server", {"server1/0": "10.20.0.9/24", "server1/4": "10.20.0.9/24"}),
        ("duplicate_across_servers", {"server1/0": "10.20.0.9/24", "server2/0": "10.20.0.9/24"}),
        ("equals_gateway", {"server1/0": "10.20.0.1/24"}),
        ("is_network_address", {"server1/0": "10.20.0.0/24"}),
        ("is_broadcast_address", {"server1/0": "10.20.0.255/24"}),
    ],
)
def test_the_classes_that_a_public_tool_lets_through_are_refused_before_and_after_planning(
    rule: str, addresses: dict[str, str]
) -> None:
    cluster = bare(2, A1, pool="10.20.0.0/16", gateway=1, addresses=typed(addresses))
    assert [p.rule for p in judged(cluster, {})] == [rule]
    assert [p.rule for p in judged(cluster, assign(cluster, PRODUCTS[A1]))] == [rule]


def test_a_target_outside_every_segment_is_refused_another_planned_one_needs_a_gateway() -> None:
    cluster = bare(2, A1, gateway=1)
    addressing, where = broken(cluster, "server1/0", netdetect="10.99.0.1")
    assert [(p.rule, p.places) for p in judged(cluster, addressing)] == [("detect_outside", (where,))]
    routed, _ = broken(cluster, "server1/0", netdetect="10.20.1.1")
    assert judged(cluster, routed) == ()
    flat = bare(2, A1)
    unrouted, where = broken(flat, "server1/0", netdetect="10.20.1.1")
    assert [(p.rule, p.places) for p in judged(flat, unrouted)] == [("detect_outside", (where,))]


def test_a_gateway_that_is_no_host_of_the_segment() -> None:
    cluster = bare(2, A1, gateway=1)
    for gateway in ("10.20.1.1", "10.20.0.0", "10.20.0.255"):
        addressing, where = broken(cluster, "server1/0", gateway=gateway)
        assert ("gateway_outside_segment", (where,)) in [(p.rule, p.places) for p in judged(cluster, addressing)]


def test_a_listed_gateway_outside_its_segment_is_said_once() -> None:
    segment = Segment(network=ip_network("10.1.0.0/24"), gateway=ip_address("10.1.0.255"))
    cluster = bare(2, A2, segments=(segment,))
    assert [p.rule for p in judged(cluster, {})] == ["gateway_outside_segment"]


@pytest.mark.parametrize(
    ("generation", "address", "loud"),
    [
        (A1, "192.168.1.5/24", True),
        (A1, "192.168.5.5/24", True),
        (A1, "192.168.6.5/24", False),
        (A2, "192.168.2.5/24", True),
        (A2, "192.168.3.5/24", False),
        (A3, "192.0.2.5/24", True),
        (A3, "10.0.0.5/24", False),
        (A1, "224.0.0.5/24", True),
        (A1, "127.0.0.5/24", True),
        (A1, "fe80::5/64", True),
        (A1, "fd00::5/64", False),
    ],
)
def test_reserved_ranges(generation: Generation, address: str, *, loud: bool) -> None:
    cluster = bare(1, generation, addresses=typed({"server1/0": address}))
    alone = replace(cluster, servers=(replace(cluster.servers[0], devices=(0,)),))
    assert [p.rule for p in judged(alone, {})] == (["reserved_range"] if loud else [])


def test_a_reserved_pool_or_segment_names_the_cluster() -> None:
    cluster = bare(1, A3, pool="192.168.100.0/22")
    assert judged(cluster, {})[0].rule == "reserved_range"
    assert judged(cluster, {})[0].places == (cluster.place,)
    listed = bare(1, A2, segments=(Segment(network=ip_network("192.168.1.0/24")),))
    assert "reserved_range" in [p.rule for p in judged(listed, {})]


@pytest.mark.parametrize(
    ("mask", "good"),
    [
        ("255.255.255.0", True),
        ("255.255.255.255", True),
        ("128.0.0.0", True),
        ("255.0.255.0", False),
        ("0.0.0.255", False),
        ("0.0.0.0", False),  # noqa: S104  (a mask)
        ("24", False),
    ],
)
def test_a_mask_is_a_run_of_ones(mask: str, *, good: bool) -> None:
    problem = mask_problem(mask)
    assert (problem is None) is good
    assert problem is None or problem.rule == "mask_not_contiguous"


def test_overlapping_listed_segments() -> None:
    segments = (
        Segment(network=ip_network("10.1.0.0/16"), positions=(0, 2, 4, 6)),
        Segment(network=ip_network("10.1.1.0/24"), positions=(1, 3, 5, 7)),
    )
    cluster = bare(1, A2, segments=segments)
    assert [p.rule for p in judged(cluster, {})] == ["mask_mixed_in_segment"]


def test_a_servers_live_addresses_and_networks_are_closed() -> None:
    cluster = bare(1, A2)
    addressing = assign(cluster, PRODUCTS[A2])
    assert judged(cluster, addressing, hosts={"server1": [ip_address("10.20.9.9")]}) == ()
    (equal,) = judged(cluster, addressing, hosts={"server1": [ip_address("10.20.0.3")]})
    assert (equal.rule, equal.places) == ("equals_host_address", (device_place("server1", 2),))
    inside = judged(cluster, addressing, hosts={"server1": [ip_interface("10.20.0.200/16")]})
    assert len(inside) == 8
    assert {p.rule for p in inside} == {"equals_host_address"}
    assert judged(cluster, addressing, hosts={"server1": [ip_interface("127.0.0.1/8")]}) == ()


def test_the_ssh_address_of_a_server_is_closed() -> None:
    cluster = bare(1, A2, pool="10.20.0.0/16", addresses=typed({"server1/0": "10.20.0.200/24"}))
    assert judged(cluster, {}) == ()
    reached = replace(cluster.servers[0], login=Login(host="10.20.0.200"))
    assert [p.rule for p in judged(replace(cluster, servers=(reached,)), {})] == ["equals_host_address"]


def shared(cluster: Cluster, *, group: int) -> tuple[Problem, ...]:
    """All devices with one segment number for every ``group`` positions."""
    addressing = {
        place: DeviceAddressing(interface=ip_interface(f"10.20.{place.device // group}.{n + 1}/24"))
        for n, place in enumerate(cluster.devices())
    }
    return judged(cluster, addressing)


def test_a1_neighbours_in_one_segment() -> None:
    (problem,) = shared(bare(2, A1), group=8)
    assert problem.rule == "positions_share_segment"
    assert len(problem.places) == 16
    assert "0/4, 1/5, 2/6, 3/7" in problem.message


def test_a3_siblings_in_one_segment_other_dies_may_share() -> None:
    assert "positions_share_segment" in {p.rule for p in shared(bare(2, A3), group=16)}
    cluster = bare(2, A3)
    mixed = {
        place: DeviceAddressing(interface=ip_interface(f"10.20.{(place.device + place.device // 2) % 2}.{n + 1}/24"))
        for n, place in enumerate(cluster.devices())
    }
    assert judged(cluster, mixed) == ()


def test_a2_may_share_one_segment() -> None:
    assert shared(bare(2, A2), group=8) == ()


def test_listed_segments_are_judged_before_any_address_is_planned() -> None:
    one = (Segment(network=ip_network("10.1.0.0/24"), positions=tuple(range(8))),)
    assert [p.rule for p in judged(bare(2, A1, segments=one), {})] == ["positions_share_segment"]
    assert judged(bare(2, A2, segments=one), {}) == ()


def test_positions_that_must_share_a_segment() -> None:
    cluster = bare(3, A2)
    addressing, where = broken(cluster, "server2/3", interface="10.30.0.3/24", netdetect="10.30.0.4")
    (problem,) = judged(cluster, addressing)
    assert (problem.rule, problem.places) == ("positions_split", (where,))
    assert "10.30.0.0/24" in problem.message
    assert "10.20.0.0/24" in problem.message


def test_a_rail_split_between_servers_needs_a_gateway() -> None:
    def leaf(gateway: bool) -> Cluster:  # noqa: FBT001  (one question)
        segments = tuple(
            Segment(
                network=ip_network(f"10.{n}.0.0/24"),
                gateway=ip_address(f"10.{n}.0.1") if gateway else None,
                servers=(f"server{n}",),
            )
            for n in (1, 2)
        )
        return bare(2, A2, segments=segments)

    assert {p.rule for p in judged(leaf(gateway=False), {})} == {"positions_split"}
    assert judged(leaf(gateway=True), {}) == ()
    for gateway, rules in ((False, {"positions_split"}), (True, set())):
        cluster = leaf(gateway=gateway)
        assert {p.rule for p in judged(cluster, assign(cluster, PRODUCTS[A2]))} == rules


def test_a2_segments_per_position_are_the_users_own_choice() -> None:
    segments = tuple(Segment(network=ip_network(f"10.{n}.0.0/24"), positions=(n,)) for n in range(8))
    cluster = bare(2, A2, segments=segments)
    assert judged(cluster, assign(cluster, PRODUCTS[A2])) == ()


def test_the_ends_of_a_direct_cable_share_a_segment() -> None:
    cluster = bare(2, A1, Topology.DIRECT)
    crossed = (Cable(device=device_place("server1", 0), far=device_place("server2", 1)),)
    cluster = replace(cluster, cables=crossed)
    rules = {p.rule for p in judged(cluster, assign(cluster, PRODUCTS[A1]))}
    assert "positions_split" in rules


def test_someone_else_answers() -> None:
    cluster = bare(1, A2)
    addressing = assign(cluster, PRODUCTS[A2])
    answering = {ip_address("10.20.0.1"): "server1/0", ip_address("10.20.0.2"): "02:5e:00:aa:10:01"}
    (problem,) = judged(cluster, addressing, answering=answering)
    assert (problem.rule, problem.places) == ("answers_elsewhere", (device_place("server1", 1),))
    assert "02:5e:00:aa:10:01" in problem.message


def test_mixed_families() -> None:
    cluster = bare(1, A2, pool="10.20.0.0/16", addresses=typed({"server1/0": "fd00::1/64"}))
    assert [p.rule for p in judged(cluster, {})] == ["mixed_families"]
    good = bare(1, A2)
    addressing, _ = broken(good, "server1/0", interface="fd00::1/64", netdetect="fd00::2")
    assert "mixed_families" in {p.rule for p in judged(good, addressing)}


def test_too_few_addresses_before_planning_and_for_a_plan_with_gaps() -> None:
    small = bare(9, A2, pool="10.20.0.0/26")
    assert [p.rule for p in judged(small, {})] == ["too_few_addresses"]
    cluster = bare(1, A2)
    addressing = assign(cluster, PRODUCTS[A2])
    del addressing[device_place("server1", 7)]
    (problem,) = judged(cluster, addressing)
    assert (problem.rule, problem.places) == ("too_few_addresses", (device_place("server1", 7),))
    assert "7 addresses for 8 devices" in problem.message
