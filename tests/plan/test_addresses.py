from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network, ip_address, ip_interface, ip_network
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_cases import PRODUCTS, bare, interfaces, server, typed

from rankready.model.addressing import Segment
from rankready.model.cluster import Cable, Generation, Login, NetDetectPolicy, Topology
from rankready.model.errors import PlanError
from rankready.model.place import device_place
from rankready.plan.addresses import assign
from rankready.plan.conflicts import conflicts
from rankready.plan.ranges import is_broadcast_address, is_network_address

if TYPE_CHECKING:
    import random

    from rankready.model.cluster import Cluster

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3


def planned(cluster: Cluster, **more: object) -> dict[str, str]:
    addressing = assign(cluster, PRODUCTS[cluster.generation], **more)  # type: ignore[arg-type]
    return {str(place): str(a.interface) for place, a in addressing.items()}


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    pool = draw(st.sampled_from(["10.20.0.0/16", "172.16.0.0/20", "192.168.0.0/16", "10.0.0.0/22", "fd00:20::/48"]))
    generation = draw(st.sampled_from([A1, A2] if pool.startswith("192") else list(Generation)))
    cluster = bare(
        draw(st.integers(1, 9)),
        generation,
        draw(st.sampled_from(Topology)),
        pool=pool,
        gateway=draw(st.sampled_from([None, 1, 254])),
        netdetect=draw(st.sampled_from(NetDetectPolicy)),
    )
    some = draw(st.sets(st.sampled_from(PRODUCTS[generation].devices), min_size=1))
    first = replace(cluster.servers[0], devices=tuple(sorted(some)))
    return replace(cluster, servers=(first, *cluster.servers[1:]))


@given(clusters())
def test_what_is_planned_is_legal(cluster: Cluster) -> None:
    product = PRODUCTS[cluster.generation]
    addressing = assign(cluster, product)
    assert list(addressing) == list(cluster.devices())
    assert len({a.interface.ip for a in addressing.values()}) == len(addressing)
    networks: dict[int, set[object]] = {}
    for place, a in addressing.items():
        assert not any(a.interface.ip in closed for closed in (*product.reserved, *product.avoided))
        assert not is_network_address(a.interface)
        assert not is_broadcast_address(a.interface)
        assert a.interface.ip not in {b.gateway for b in addressing.values()}
        assert a.gateway is None or a.gateway in a.interface.network
        networks.setdefault(product.segment_of(place.device), set()).add(a.interface.network)
    assert all(len(n) == 1 for n in networks.values())
    assert len({next(iter(n)) for n in networks.values()}) == len(networks)
    assert conflicts(cluster, product, addressing) == ()


@given(clusters(), st.randoms(use_true_random=False), st.sampled_from(["applied", "live"]))
def test_adding_removing_and_reordering_servers_moves_nobody(cluster: Cluster, dice: random.Random, how: str) -> None:
    product = PRODUCTS[cluster.generation]
    before = interfaces(assign(cluster, product))
    stay = [s for s in cluster.servers if dice.random() < 0.7]
    names = [*stay, server("newcomer", cluster.generation)]
    dice.shuffle(names)
    # half of a position's devices must be there for the devices' own word to count
    if how == "live" and len(stay) < 2:
        return
    after = interfaces(assign(replace(cluster, servers=tuple(names)), product, **{how: before}))  # type: ignore[arg-type]
    assert {p: i for p, i in after.items() if p in before} == {p: i for p, i in before.items() if p in after}
    assert len({i.ip for i in after.values()}) == len(after)


def test_shrinking_below_the_default_mask_moves_nobody() -> None:
    big, small = bare(130), bare(3)
    before = assign(big, PRODUCTS[A1])
    assert before[device_place("server1", 0)].interface.network.prefixlen == 23
    after = assign(small, PRODUCTS[A1], applied=interfaces(before))
    assert interfaces(after) == {p: a.interface for p, a in before.items() if p in after}


def test_the_example_of_the_guide() -> None:
    assert list(islice(planned(bare(2)).items(), 8, 13)) == [
        ("server2/0", "10.20.0.3/24"),
        ("server2/1", "10.20.1.3/24"),
        ("server2/2", "10.20.2.3/24"),
        ("server2/3", "10.20.3.3/24"),
        ("server2/4", "10.20.0.4/24"),
    ]


@pytest.mark.parametrize(
    "illegal",
    [
        "10.20.1.9/24",  # the segment of another position
        "10.20.0.9/16",  # another mask
        "10.20.0.0/24",  # the network address
        "10.20.0.255/24",  # the broadcast address
        "10.20.0.1/24",  # the gateway
        "10.20.0.77/24",  # a server's own address
        "10.20.0.2/24",  # another device's
    ],
)
def test_an_illegal_live_address_is_not_kept_a_legal_one_is(illegal: str) -> None:
    cluster = bare(2, gateway=1)
    own = replace(cluster.servers[1], address=ip_address("10.20.0.77"))
    cluster = replace(cluster, servers=(cluster.servers[0], own))
    live = typed({"server1/0": "10.20.0.2/24", "server2/0": illegal, "server2/4": "10.20.0.200/24"})
    found = planned(cluster, live=live)
    assert found["server1/0"] == "10.20.0.2/24"
    assert found["server2/4"] == "10.20.0.200/24"
    assert found["server2/0"] == "10.20.0.4/24"


def test_what_was_applied_comes_before_what_is_live() -> None:
    cluster = bare(2)
    applied = typed({"server1/0": "10.20.0.50/24"})
    live = typed({"server1/0": "10.20.0.9/24", "server2/0": "10.20.0.50/24"})
    found = planned(cluster, applied=applied, live=live)
    assert (found["server1/0"], found["server2/0"]) == ("10.20.0.50/24", "10.20.0.2/24")


def test_what_the_user_typed_comes_before_all_and_is_not_judged() -> None:
    cluster = bare(2, pool="10.20.0.0/16", addresses=typed({"server2/7": "10.20.3.255/24"}))
    found = planned(cluster, applied=typed({"server1/3": "10.20.3.255/24"}))
    assert found["server2/7"] == "10.20.3.255/24"
    assert found["server1/3"] == "10.20.3.1/24"


def test_segments_that_devices_agree_on_stay_a_stray_pulls_nobody() -> None:
    cluster = bare(2)
    product = PRODUCTS[A1]
    agreed = {p: ip_interface(f"10.20.{100 + p.device % 4}.{n + 1}/24") for n, p in enumerate(cluster.devices())}
    assert interfaces(assign(cluster, product, live=agreed)) == agreed
    stray = typed({"server1/0": "10.20.100.1/24"})
    assert planned(cluster, live=stray)["server1/0"] == "10.20.0.1/24"


def test_addresses_to_avoid_are_not_given() -> None:
    found = planned(bare(1), avoid=[ip_address("10.20.0.1"), ip_address("10.20.0.2")])
    assert (found["server1/0"], found["server1/4"]) == ("10.20.0.3/24", "10.20.0.4/24")


@pytest.mark.parametrize(("generation", "servers"), [(A1, 2), (A1, 5), (A2, 3), (A2, 7), (A3, 2), (A3, 5)])
@pytest.mark.parametrize("gateway", [None, 1])
def test_capacity_is_exact(generation: Generation, servers: int, gateway: int | None) -> None:
    product = PRODUCTS[generation]
    cluster = bare(servers, generation, pool="10.20.0.0/23", prefix=26, gateway=gateway)
    each = servers * len(product.devices) // product.segments
    spare = 62 - each - (gateway is not None)
    # closes numbers in every /26 of the pool, so that no other place in it helps
    closed = [
        ip_address(int(n.network_address) + 2 + at)
        for n in IPv4Network("10.20.0.0/23").subnets(new_prefix=26)
        for at in range(spare)
    ]
    assert len(assign(cluster, product, avoid=closed)) == servers * len(product.devices)
    more = [ip_address(int(n.network_address) + 62) for n in IPv4Network("10.20.0.0/23").subnets(new_prefix=26)]
    with pytest.raises(PlanError, match=f"{product.segments} x {each} = .* are needed, .* x {each - 1} "):
        assign(cluster, product, avoid=[*closed, *more])


@given(st.sampled_from(Generation), st.integers(1, 12), st.integers(20, 30), st.sampled_from([None, 1]))
def test_a_pool_is_refused_only_when_it_can_not_do(
    generation: Generation, servers: int, prefix: int, gateway: int | None
) -> None:
    product = PRODUCTS[generation]
    cluster = bare(servers, generation, pool=f"10.20.0.0/{prefix}", gateway=gateway)
    each = servers * len(product.devices) // product.segments
    widest = prefix + (product.segments - 1).bit_length()
    room = max((1 << (32 - widest)) - 2, 0) - (gateway is not None) if widest <= 30 else 0
    if room >= each:
        assert len(assign(cluster, product)) == servers * len(product.devices)
        return
    with pytest.raises(PlanError) as caught:
        assign(cluster, product)
    would_do = str(caught.value).split("a /")[1].split(" ")[0]
    assert len(assign(bare(servers, generation, pool=f"10.0.0.0/{would_do}", gateway=gateway), product)) > 0
    with pytest.raises(PlanError):
        assign(bare(servers, generation, pool=f"10.0.0.0/{int(would_do) + 1}", gateway=gateway), product)


@pytest.mark.parametrize(
    ("pool", "servers", "network"),
    [
        ("10.20.0.0/16", 31, "10.20.0.0/24"),
        ("10.20.0.0/16", 32, "10.20.0.0/23"),
        ("10.20.0.0/26", 2, "10.20.0.0/26"),
        ("192.168.0.0/16", 2, "192.168.8.0/24"),
        ("fd00::/48", 2, "fd00::/64"),
        ("fd00::/120", 2, "fd00::/120"),
    ],
)
def test_the_mask_is_the_usual_one_else_what_fits(pool: str, servers: int, network: str) -> None:
    found = assign(bare(servers, A2, pool=pool), PRODUCTS[A2])
    assert {a.interface.network for a in found.values()} == {ip_network(network)}


def test_a_prefix_that_was_asked_for_is_the_one() -> None:
    found = assign(bare(2, A1, prefix=20), PRODUCTS[A1])
    assert found[device_place("server1", 3)].interface == ip_interface("10.20.48.1/20")


@pytest.mark.parametrize(
    ("pool", "prefix", "words"),
    [
        ("10.20.0.0/28", None, "4 x 4 = 16 device addresses are needed, 4 x 2 = 8 are there; a /27 pool would do"),
        ("10.20.0.0/30", None, "4 x 0 = 0 are there; a /27 pool would do"),
        ("10.20.0.0/16", 30, "prefix 29 in a /16 pool would do"),
        ("10.20.0.0/22", 23, "4 x 0 = 0 are there; a /21 pool would do"),
        ("192.168.0.0/21", None, "without those would do"),
    ],
)
def test_a_pool_too_small_says_what_would_do_in_both_languages(pool: str, prefix: int | None, words: str) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        assign(bare(2, pool=pool, prefix=prefix), PRODUCTS[A1])
    assert "太小" in str(caught.value)


def test_a_gateway_that_no_segment_can_hold() -> None:
    with pytest.raises(PlanError, match="host number 0 is no host"):
        assign(bare(2, gateway=0), PRODUCTS[A1])


def test_mixed_families_are_refused() -> None:
    with pytest.raises(PlanError, match=r"IPv4 .* and IPv6 .* are mixed"):
        assign(bare(2, pool="10.20.0.0/16", addresses=typed({"server1/0": "fd00::1/64"})), PRODUCTS[A1])


def test_without_pool_and_segment_a_device_is_named() -> None:
    with pytest.raises(PlanError, match=r"no pool and no segment for server1/1 .7 devices"):
        assign(bare(1, addresses=typed({"server1/0": "10.1.0.1/24"})), PRODUCTS[A1])


def test_listed_segments_are_numbered_by_the_rule() -> None:
    segments = tuple(Segment(network=ip_network(f"10.{n}.0.0/24"), gateway=ip_address(f"10.{n}.0.1")) for n in range(4))
    found = assign(bare(1, segments=segments), PRODUCTS[A1])
    assert str(found[device_place("server1", 6)].interface) == "10.2.0.3/24"
    assert str(found[device_place("server1", 6)].gateway) == "10.2.0.1"


def test_a_segment_with_positions_or_servers_wins_and_the_pool_serves_the_rest() -> None:
    segments = (
        Segment(network=ip_network("10.20.0.0/24"), positions=(0, 4)),
        Segment(network=ip_network("10.9.0.0/24"), positions=(0, 4), servers=("server2",)),
    )
    found = planned(bare(2, pool="10.20.0.0/16", segments=segments))
    assert (found["server1/4"], found["server2/4"]) == ("10.20.0.2/24", "10.9.0.2/24")
    assert (found["server1/1"], found["server2/3"]) == ("10.20.1.1/24", "10.20.3.3/24")


def test_one_segment_per_leaf() -> None:
    segments = (
        Segment(network=ip_network("10.1.0.0/24"), servers=("server1",)),
        Segment(network=ip_network("10.2.0.0/24"), servers=("server2",)),
    )
    found = assign(bare(2, A2, segments=segments, gateway=1), PRODUCTS[A2])
    assert str(found[device_place("server2", 0)].interface) == "10.2.0.2/24"
    assert str(found[device_place("server2", 0)].netdetect) == "10.2.0.1"
    assert conflicts(bare(2, A2, segments=segments, gateway=1), PRODUCTS[A2], found) == ()


def test_more_segments_than_the_rule_can_number_are_refused() -> None:
    segments = tuple(Segment(network=ip_network(f"10.{n}.0.0/24")) for n in range(2))
    with pytest.raises(PlanError, match="2 segments without positions"):
        assign(bare(1, A2, segments=segments), PRODUCTS[A2])


def test_a_listed_segment_too_small_says_what_would_do() -> None:
    with pytest.raises(PlanError, match=r"10.1.0.0/28 is too small: 16 .* needed, 13 are there; a /27 would do"):
        assign(
            bare(2, A2, segments=(Segment(network=ip_network("10.1.0.0/28"), gateway=ip_address("10.1.0.1")),)),
            PRODUCTS[A2],
        )


@pytest.mark.parametrize(
    ("policy", "gateway", "target"),
    [
        (NetDetectPolicy.AUTO, 1, "10.20.0.1"),
        (NetDetectPolicy.AUTO, None, "10.20.0.3"),
        (NetDetectPolicy.PEER, 1, "10.20.0.4"),
        (NetDetectPolicy.GATEWAY, 1, "10.20.0.1"),
        (NetDetectPolicy.GATEWAY, None, "None"),
        (NetDetectPolicy.NONE, 1, "None"),
    ],
)
def test_what_a_device_probes(policy: NetDetectPolicy, gateway: int | None, target: str) -> None:
    found = assign(bare(2, netdetect=policy, gateway=gateway), PRODUCTS[A1])
    assert str(found[device_place("server1", 0)].netdetect) == target


def test_the_last_server_probes_the_first() -> None:
    found = assign(bare(3), PRODUCTS[A1])
    assert found[device_place("server3", 5)].netdetect == found[device_place("server1", 5)].interface.ip


@pytest.mark.parametrize(
    ("generation", "device", "target"), [(A1, 1, "10.20.1.2"), (A2, 7, "10.20.0.1"), (A3, 1, "None")]
)
def test_a_lone_server_probes_itself_where_that_proves_something(
    generation: Generation, device: int, target: str
) -> None:
    found = assign(bare(1, generation), PRODUCTS[generation])
    assert str(found[device_place("server1", device)].netdetect) == target


def test_direct_fibre_probes_the_far_end_even_with_a_gateway() -> None:
    cluster = bare(4, A1, Topology.DIRECT, gateway=1)
    found = assign(cluster, PRODUCTS[A1])
    assert found[device_place("server3", 2)].netdetect == found[device_place("server4", 2)].interface.ip
    assert found[device_place("server4", 2)].netdetect == found[device_place("server3", 2)].interface.ip
    crossed = (Cable(device=device_place("server1", 2), far=device_place("server3", 6)),)
    found = assign(replace(cluster, cables=crossed), PRODUCTS[A1])
    assert found[device_place("server3", 6)].netdetect == found[device_place("server1", 2)].interface.ip


def test_a_servers_own_addresses_are_never_given() -> None:
    cluster = bare(1)
    own = replace(cluster.servers[0], login=Login(host="10.20.0.1"), address=ip_address("10.20.0.2"))
    assert planned(replace(cluster, servers=(own,)))["server1/0"] == "10.20.0.3/24"


@given(clusters(), st.data())
def test_any_memory_whatever_gives_a_legal_plan(cluster: Cluster, data: st.DataObject) -> None:
    product = PRODUCTS[cluster.generation]
    version = 6 if "fd00" in str(cluster.parameter_plane.pool) else 4
    drawn = st.dictionaries(st.sampled_from(tuple(cluster.devices())), st.integers(0, 600), max_size=30)
    base = "fd00:20::" if version == 6 else str(cluster.parameter_plane.pool).split("/")[0]
    prefix = 64 if version == 6 else 24

    def memory() -> dict[object, object]:
        return {p: ip_interface(f"{ip_address(base) + n}/{prefix}") for p, n in data.draw(drawn).items()}

    addressing = assign(cluster, product, applied=memory(), live=memory())  # type: ignore[arg-type]
    assert conflicts(cluster, product, addressing) == ()
    assert assign(cluster, product, applied=interfaces(addressing)) == addressing
