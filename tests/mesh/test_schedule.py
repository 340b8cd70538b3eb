"""Every pair once, never more than the limits, never more rounds than must be."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from ipaddress import IPv4Interface
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster
from hypothesis import given, settings
from hypothesis import strategies as st

from rankready.mesh.probe import Mode
from rankready.mesh.rounds import pack
from rankready.mesh.schedule import default_mode, schedule
from rankready.model.cluster import Generation, Topology
from rankready.products import atlas_a1, atlas_a2, atlas_a3

if TYPE_CHECKING:
    from rankready.kind.product import Product
    from rankready.mesh.probe import Probe
    from rankready.mesh.schedule import Schedule
    from rankready.model.cluster import Cluster

PRODUCTS: dict[Generation, Product] = {
    Generation.A1: atlas_a1.PRODUCT,
    Generation.A2: atlas_a2.PRODUCT,
    Generation.A3: atlas_a3.PRODUCT,
}


def plan(cluster: Cluster, mode: Mode | None = None, per_host: int = 1, sparse_k: int = 8) -> Schedule:
    return schedule(cluster, PRODUCTS[cluster.generation], mode=mode, per_host=per_host, sparse_k=sparse_k)


def rail_probes(made: Schedule) -> list[Probe]:
    return [p for probes in made.rounds[: len(made.steps)] for p in probes]


def assert_limits(made: Schedule, per_host: int) -> None:
    for probes in made.rounds:
        assert max(Counter(p.source.name for p in probes).values()) <= per_host
        assert max(Counter(p.source for p in probes).values()) == 1
        assert max(Counter(p.target for p in probes).values()) == 1


def formula(mode: Mode, rails: int, servers: int, per_host: int) -> int:
    pairs = rails * (servers - 1)
    return -(-pairs // per_host) if mode is Mode.DIRECTED else -(-pairs // (2 * per_host))


@settings(max_examples=120)
@given(
    servers=st.integers(3, 40),
    rails=st.sampled_from([1, 2, 3, 8, 16]),
    per_host=st.integers(1, 16),
    mode=st.sampled_from([Mode.DIRECTED, Mode.ROUND_TRIP]),
)
def test_all_pairs_of_a_rail_within_the_bound(servers: int, rails: int, per_host: int, mode: Mode) -> None:
    per_host = min(per_host, rails)
    made = plan(make_cluster(servers, Generation.A2, devices=tuple(range(rails))), mode, per_host)

    assert_limits(made, per_host)
    ends = [(p.source, p.target) for p in rail_probes(made)]
    pairs = Counter(ends) if mode is Mode.DIRECTED else Counter(frozenset(e) for e in ends)
    assert set(pairs.values()) == {1}
    assert len(pairs) == rails * servers * (servers - 1) // (1 if mode is Mode.DIRECTED else 2) == made.planned
    assert all(a.device == b.device for a, b in ends)
    assert len(made.rounds) == made.bound == formula(mode, rails, servers, per_host)


@pytest.mark.parametrize("servers", [2, 3, 4, 7, 16, 33])
@pytest.mark.parametrize("mode", list(Mode))
def test_a_servers_own_list_is_its_part_of_the_rounds(servers: int, mode: Mode) -> None:
    made = plan(make_cluster(servers, Generation.A1), mode, 2)
    for server in made.cluster.servers:
        mine = [p for probes in made.rounds for p in probes if p.source.name == server.name]
        assert Counter(made.calls(server.name)) == Counter(mine)


@pytest.mark.parametrize("k", [1, 4, 8])
def test_a_sparse_schedule_treats_every_device_alike(k: int) -> None:
    made = plan(make_cluster(41, Generation.A2, devices=(0, 1)), Mode.SPARSE, sparse_k=k)
    assert set(Counter(p.source for p in rail_probes(made)).values()) == {k}
    assert set(Counter(p.target for p in rail_probes(made)).values()) == {k}
    assert made.planned == 41 * 2 * k


@pytest.mark.parametrize("generation", [Generation.A1, Generation.A2, Generation.A3])
@pytest.mark.parametrize("per_host", [1, 2, 8])
def test_two_servers_get_references_within_the_bound(generation: Generation, per_host: int) -> None:
    cluster = make_cluster(2, generation)
    made = plan(cluster, per_host=per_host)
    extra = [p for probes in made.references for p in probes]
    partners = Counter(end for p in extra for end in (p.source, p.target))

    assert_limits(made, per_host)
    assert len(made.rounds) == made.bound
    assert set(partners) == set(cluster.devices())
    assert min(partners.values()) >= 2
    for p in extra:
        assert cluster.addressing[p.source].interface.network == cluster.addressing[p.target].interface.network
        assert p.source.device != p.target.device


def test_references_keep_to_the_product() -> None:
    a1 = [p for r in plan(make_cluster(2, Generation.A1)).references for p in r]
    assert any(p.source.name == p.target.name for p in a1)  # 0 and 4: two device OSes
    assert not [p for p in a1 if p.source.name == p.target.name and p.source.device // 4 == p.target.device // 4]
    a3 = [p for r in plan(make_cluster(2, Generation.A3)).references for p in r]
    assert not [p for p in a3 if p.source.name == p.target.name]


def test_three_servers_need_no_references() -> None:
    assert plan(make_cluster(3)).references == ()


@pytest.mark.parametrize(("servers", "mode"), [(2, Mode.DIRECTED), (32, Mode.DIRECTED), (33, Mode.SPARSE)])
def test_the_default_proves_all_while_that_takes_minutes(servers: int, mode: Mode) -> None:
    assert default_mode(make_cluster(servers, Generation.A2)) is mode


def test_one_server_has_nothing_to_probe() -> None:
    made = plan(make_cluster(1))
    assert (made.rounds, made.planned, made.bound) == ((), 0, 0)


def test_direct_fibre_joins_only_its_two_ends() -> None:
    made = plan(make_cluster(4, Generation.A1, Topology.DIRECT))
    pairs = {(str(p.source), str(p.target)) for p in rail_probes(made)}
    assert len(pairs) == made.planned == 32
    assert ("server1/3", "server2/3") in pairs
    assert ("server2/3", "server3/3") not in pairs
    assert made.references == ()
    assert sum(e.pairs for e in made.excluded) == 8 * (6 - 2)


def with_networks(cluster: Cluster, *, gateway: bool) -> Cluster:
    """Every second server lies in a network of its own."""
    addressing = dict(cluster.addressing)
    for n, (device, planned) in enumerate(cluster.addressing.items()):
        if device.name in ("server2", "server4"):
            interface = IPv4Interface(f"10.99.0.{n + 2}/24")
            addressing[device] = replace(
                planned, interface=interface, gateway=interface.network[1] if gateway else None
            )
        elif gateway:
            addressing[device] = replace(planned, gateway=planned.interface.network[1])
    return replace(cluster, addressing=addressing)


def test_devices_of_two_networks_are_left_out_with_the_rule() -> None:
    cluster = with_networks(make_cluster(4, Generation.A2, devices=(0,)), gateway=False)
    made = plan(cluster)
    assert {frozenset((p.source.name, p.target.name)) for p in rail_probes(made)} == {
        frozenset(("server1", "server3")),
        frozenset(("server2", "server4")),
    }
    (left_out,) = made.excluded
    assert left_out.pairs == 4
    assert "gateway" in left_out.rule.en


def test_gateways_everywhere_join_the_networks() -> None:
    made = plan(with_networks(make_cluster(4, Generation.A2, devices=(0,)), gateway=True))
    assert made.planned == 12
    assert made.excluded == ()


def test_a_device_without_a_planned_address_is_left_out() -> None:
    cluster = make_cluster(4, Generation.A2, devices=(0,))
    addressing = {d: a for d, a in cluster.addressing.items() if d.name != "server3"}
    made = plan(replace(cluster, addressing=addressing))
    assert made.planned == 6
    assert [(e.pairs, [str(p) for p in e.places]) for e in made.excluded] == [(3, ["server3/0"])]


def test_an_address_of_a_device_that_nobody_listed_is_no_stand_in_for_a_missing_one() -> None:
    cluster = make_cluster(4, Generation.A2, devices=(0,))
    (lost, address), *others = reversed(list(cluster.addressing.items()))
    made = plan(replace(cluster, addressing={**dict(others), replace(lost, name="stranger"): address}))
    assert [len(g) for g in made.rails[0]] == [3]
    assert [[str(p) for p in e.places] for e in made.excluded] == [["server4/0"]]


@given(gone=st.sets(st.tuples(st.integers(1, 6), st.integers(0, 2)), max_size=4), odd=st.booleans())
@settings(max_examples=40)
def test_a_rail_by_numbers_holds_the_devices_that_are_planned(gone: set[tuple[int, int]], *, odd: bool) -> None:
    """Whatever is missing, and in whatever order addresses stand."""
    cluster = make_cluster(6, Generation.A2, devices=(0, 1, 2))
    kept = {p: a for p, a in cluster.addressing.items() if (int(p.name.removeprefix("server")), p.device) not in gone}
    addressing = dict(reversed(kept.items())) if odd else kept
    made = plan(replace(cluster, addressing=addressing), Mode.DIRECTED)
    for (position, devices), groups in zip(cluster.rails(), made.rails, strict=True):
        assert [d for g in groups for d in g] == [d for d in devices if d in addressing]
        assert all(d.device == position for g in groups for d in g)
    for server in cluster.servers:
        assert made.calls_of(server.name) == sum(1 for _ in made.calls(server.name))


def test_uneven_servers_are_covered_all_the_same() -> None:
    cluster = make_cluster(5, Generation.A2)
    small = replace(cluster.servers[2], devices=(0, 1))
    cluster = replace(cluster, servers=(*cluster.servers[:2], small, *cluster.servers[3:]))
    for mode in (Mode.DIRECTED, Mode.ROUND_TRIP):
        made = plan(cluster, mode, 2)
        assert_limits(made, 2)
        expected = sum(len(rail) * (len(rail) - 1) for _, rail in cluster.rails())
        found = {(p.source, p.target) for p in rail_probes(made)}
        if mode is Mode.ROUND_TRIP:
            found |= {(b, a) for a, b in found}
        assert len(found) == expected


def test_pack_fills_a_round_from_the_longest_rails() -> None:
    assert [len(r) for r in pack([3, 1], 2)] == [2, 1, 1]
    assert [u.step for r in pack([3, 1], 1) for u in r if u.rail == 0] == [0, 1, 2]
