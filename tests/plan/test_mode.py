"""A1 by work mode: one segment for all positions is free in AMP mode, and in no other."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

import pytest
from plan_cases import PRODUCTS, bare, interfaces, typed

from rankready.model.addressing import Segment
from rankready.model.cluster import Generation
from rankready.model.finding import Evidence
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.place import server_place
from rankready.model.snapshot import Gap, Seen, Snapshot
from rankready.plan.addresses import assign
from rankready.plan.conflicts import conflicts
from rankready.plan.mode import by_mode, for_a_look, mode_facts, needs_amp, relaxed

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3
STRICT = PRODUCTS[A1]
UNREAD = Gap("words that we don't know: XMP")
DEAD = Gap("server2: Connection refused")
WORDS = Evidence(command="ask", excerpt="said", at="now")


def one_segment() -> Cluster:
    return bare(2, A1, segments=(Segment(network=ip_network("10.1.0.0/24"), positions=tuple(range(8))),))


def seen(**modes: WorkMode | Gap) -> Seen:
    """A look at these servers; of one that is DEAD nothing was read."""
    facts: dict[tuple[Place, type], object] = {}
    for name, mode in modes.items():
        facts[server_place(name), NpuWorkMode] = mode if isinstance(mode, Gap) else NpuWorkMode(npu=0, mode=mode)
    words = {key: WORDS for key, fact in facts.items() if fact is not DEAD}
    return Seen(Snapshot(facts=facts, evidence=words))


BOTH_AMP = seen(server1=WorkMode.AMP, server2=WorkMode.AMP)


def test_one_listed_segment_is_free_where_all_are_in_amp_mode() -> None:
    cluster = one_segment()
    assert [p.rule for p in conflicts(cluster, STRICT, {})] == ["positions_share_segment"]
    free = by_mode(STRICT, cluster, BOTH_AMP)
    assert conflicts(cluster, free, {}) == ()
    assert conflicts(cluster, free, assign(cluster, free)) == ()


def test_typed_addresses_of_a_pair_may_lie_in_two_segments_in_amp_mode() -> None:
    cluster = bare(1, A1, addresses=typed({f"server1/{n}": f"10.1.{n}.1/24" for n in range(8)}))
    assert "positions_split" in {p.rule for p in conflicts(cluster, STRICT, {})}
    assert conflicts(cluster, relaxed(STRICT, cluster), {}) == ()


@pytest.mark.parametrize(
    ("second", "words"),
    [(WorkMode.SMP, "server2 in SMP mode"), (UNREAD, "server2 work mode not known: words that we don't know: XMP")],
)
def test_one_server_that_is_not_known_to_be_in_amp_mode_binds_all_and_is_named(
    second: WorkMode | Gap, words: str
) -> None:
    cluster = one_segment()
    rules = by_mode(STRICT, cluster, seen(server1=WorkMode.AMP, server2=second))
    (problem,) = conflicts(cluster, rules, {})
    assert problem.rule == "positions_share_segment"
    assert f"rule: unless all servers are in AMP mode ({words}), positions 0/4" in problem.message
    assert "server2" in problem.zh
    assert "server1 in" not in problem.message


def test_a_server_of_which_nothing_was_read_binds_nobody() -> None:
    cluster = one_segment()
    assert conflicts(cluster, by_mode(STRICT, cluster, seen(server1=WorkMode.AMP, server2=DEAD)), {}) == ()
    assert conflicts(cluster, by_mode(STRICT, cluster, seen(server1=WorkMode.SMP, server2=DEAD)), {}) != ()


def test_a_mode_that_nobody_asked_for_is_not_amp() -> None:
    cluster = one_segment()
    (problem,) = conflicts(cluster, by_mode(STRICT, cluster, Seen(Snapshot())), {})
    assert "server1 work mode not known: not asked; server2 work mode not known: not asked" in problem.message
    (problem,) = conflicts(cluster, by_mode(STRICT, cluster, seen(server1=WorkMode.AMP)), {})
    assert "server2 work mode not known: not asked" in problem.message


def test_a_look_is_judged_whatever_the_mode() -> None:
    cluster = one_segment()
    assert conflicts(cluster, for_a_look(STRICT, cluster), {}) == ()
    plain = bare(2, A1)
    assert for_a_look(STRICT, plain) is STRICT
    assert by_mode(STRICT, plain, seen(server1=WorkMode.SMP)) is STRICT


def test_one_segment_without_positions_is_the_one_of_all_in_amp_mode() -> None:
    cluster = bare(2, A1, segments=(Segment(network=ip_network("10.1.0.0/24")),))
    assert [p.rule for p in conflicts(cluster, STRICT, {})] == ["too_few_addresses"]
    assert needs_amp(cluster, STRICT)
    free = by_mode(STRICT, cluster, BOTH_AMP)
    assert conflicts(cluster, free, {}) == ()
    given = assign(cluster, free)
    assert [str(item.interface.ip) for item in given.values()] == [f"10.1.0.{n}" for n in range(1, 17)]
    assert conflicts(cluster, free, given) == ()


def test_one_segment_for_each_of_two_servers_with_gateways_is_one_of_all_there() -> None:
    leaves = tuple(
        Segment(network=ip_network(f"10.{n}.0.0/24"), gateway=ip_address(f"10.{n}.0.254"), servers=(f"server{n}",))
        for n in (1, 2)
    )
    cluster = bare(2, A1, segments=leaves)
    given = assign(cluster, by_mode(STRICT, cluster, BOTH_AMP))
    assert {(place.name, item.interface.network) for place, item in given.items()} == {
        (f"server{n}", leaf.network) for n, leaf in enumerate(leaves, start=1)
    }


def test_one_segment_without_positions_that_is_too_small_is_told_by_its_own_number() -> None:
    cluster = bare(2, A1, segments=(Segment(network=ip_network("10.1.0.0/28")),))
    (problem,) = conflicts(cluster, by_mode(STRICT, cluster, BOTH_AMP), {})
    assert "16 device addresses are needed, 14 are there" in problem.message


@pytest.mark.parametrize("plane", [{"pool": "10.20.0.0/16"}, {}])
def test_with_a_pool_or_a_second_segment_it_stays_the_first_of_four(plane: dict[str, Any]) -> None:
    segments = (Segment(network=ip_network("10.1.0.0/24")), Segment(network=ip_network("10.2.0.0/24")))
    cluster = bare(2, A1, segments=segments[: 1 if plane else 2], **plane)
    rules = by_mode(STRICT, cluster, BOTH_AMP)
    assert [rules.segment_of(n) for n in range(8)] == [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.mark.parametrize("third", [3, 4, 5])
def test_ranges_that_only_smp_mode_closes_are_open_in_amp_mode(third: int) -> None:
    """facts/hccn 7.3: 192.168.3 to 5 are refused on A1 in SMP mode."""
    segment = Segment(network=ip_network(f"192.168.{third}.0/24"))
    cluster = bare(2, A1, segments=(segment,))
    rules = by_mode(STRICT, cluster, seen(server1=WorkMode.AMP, server2=WorkMode.SMP))
    (problem,) = (p for p in conflicts(cluster, rules, {}) if p.rule == "reserved_range")
    assert problem.message.endswith("can't use for devices unless all servers are in AMP mode (server2 in SMP mode)")
    free = by_mode(STRICT, cluster, BOTH_AMP)
    assert conflicts(cluster, free, assign(cluster, free)) == ()


@pytest.mark.parametrize("third", [1, 2])
def test_ranges_that_every_mode_closes_stay_closed(third: int) -> None:
    cluster = bare(2, A1, segments=(Segment(network=ip_network(f"192.168.{third}.0/24")),))
    found = conflicts(cluster, by_mode(STRICT, cluster, BOTH_AMP), {})
    assert "reserved_range" in {p.rule for p in found}
    assert all("AMP" not in p.message for p in found if p.rule == "reserved_range")


def test_what_is_computed_from_a_pool_is_the_same_in_both_modes() -> None:
    cluster = bare(3, A1)
    assert interfaces(assign(cluster, relaxed(STRICT, cluster))) == interfaces(assign(cluster, STRICT))


def test_a_rail_in_two_segments_without_a_gateway_stays_a_conflict_in_amp_mode() -> None:
    leaves = tuple(
        Segment(network=ip_network(f"10.{n}.0.0/24"), servers=(f"server{n}",), positions=tuple(range(8)))
        for n in (1, 2)
    )
    cluster = bare(2, A1, segments=leaves)
    assert {p.rule for p in conflicts(cluster, relaxed(STRICT, cluster), {})} == {"positions_split"}


@pytest.mark.parametrize("generation", [A2, A3])
def test_other_generations_have_no_mode(generation: Generation) -> None:
    cluster = replace(one_segment(), generation=generation)
    assert by_mode(PRODUCTS[generation], cluster, BOTH_AMP) is PRODUCTS[generation]
    assert mode_facts(cluster, PRODUCTS[generation]) == ()


def test_the_mode_is_asked_only_where_it_matters() -> None:
    assert mode_facts(one_segment(), STRICT) == (NpuWorkMode,)
    assert mode_facts(bare(2, A1), STRICT) == ()
    assert mode_facts(bare(2, A1, pool="10.20.0.0/30"), STRICT) == ()
