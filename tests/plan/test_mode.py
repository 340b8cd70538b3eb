"""A1 by work mode: one segment for all positions is free in AMP mode, and in no other."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest
from plan_cases import PRODUCTS, bare, interfaces, typed

from rankready.model.addressing import Segment
from rankready.model.cluster import Generation
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.observed.host import Reached
from rankready.model.place import server_place
from rankready.model.snapshot import Gap, Seen, Snapshot
from rankready.plan.addresses import assign
from rankready.plan.conflicts import conflicts
from rankready.plan.mode import by_mode, mode_facts, relaxed

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3
STRICT = PRODUCTS[A1]
UNREAD = Gap("words that we don't know: XMP")


def one_segment() -> Cluster:
    return bare(2, A1, segments=(Segment(network=ip_network("10.1.0.0/24"), positions=tuple(range(8))),))


def seen(**modes: WorkMode | Gap) -> Seen:
    return Seen(
        Snapshot(
            facts={
                (server_place(name), NpuWorkMode): mode if isinstance(mode, Gap) else NpuWorkMode(npu=0, mode=mode)
                for name, mode in modes.items()
            }
        )
    )


def test_one_listed_segment_is_free_where_all_are_in_amp_mode() -> None:
    cluster = one_segment()
    assert [p.rule for p in conflicts(cluster, STRICT, {})] == ["positions_share_segment"]
    free = by_mode(STRICT, cluster, seen(server1=WorkMode.AMP, server2=WorkMode.AMP))
    assert conflicts(cluster, free, {}) == ()
    assert conflicts(cluster, free, assign(cluster, free)) == ()


def test_typed_addresses_of_a_pair_may_lie_in_two_segments_in_amp_mode() -> None:
    cluster = bare(1, A1, addresses=typed({f"server1/{n}": f"10.1.{n}.1/24" for n in range(8)}))
    assert "positions_split" in {p.rule for p in conflicts(cluster, STRICT, {})}
    assert conflicts(cluster, relaxed(STRICT), {}) == ()


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
    assert f"unless all servers are in AMP mode: {words})" in problem.message
    assert "server2" in problem.zh
    assert "server1 in" not in problem.message


def test_a_mode_that_nobody_asked_for_is_not_amp() -> None:
    cluster = one_segment()
    (problem,) = conflicts(cluster, by_mode(STRICT, cluster, Seen(Snapshot())), {})
    assert "server1 work mode not known: not asked; server2 work mode not known: not asked" in problem.message
    looked = seen(server1=WorkMode.AMP).snapshot.merged(Snapshot(facts={(server_place("server2"), Reached): UNREAD}))
    (problem,) = conflicts(cluster, by_mode(STRICT, cluster, Seen(looked)), {})
    assert "server2 work mode not known: not asked" in problem.message


def test_a_look_at_some_servers_decides_for_those() -> None:
    cluster = one_segment()
    assert conflicts(cluster, by_mode(STRICT, cluster, seen(server1=WorkMode.AMP)), {}) == ()
    assert conflicts(cluster, by_mode(STRICT, cluster, seen(server1=WorkMode.SMP)), {}) != ()


def test_what_is_computed_is_the_same_in_both_modes() -> None:
    cluster = bare(3, A1)
    assert interfaces(assign(cluster, relaxed(STRICT))) == interfaces(assign(cluster, STRICT))


def test_a_rail_in_two_segments_without_a_gateway_stays_a_conflict_in_amp_mode() -> None:
    leaves = tuple(
        Segment(network=ip_network(f"10.{n}.0.0/24"), servers=(f"server{n}",), positions=tuple(range(8)))
        for n in (1, 2)
    )
    assert {p.rule for p in conflicts(bare(2, A1, segments=leaves), relaxed(STRICT), {})} == {"positions_split"}


@pytest.mark.parametrize("generation", [A2, A3])
def test_other_generations_have_no_mode(generation: Generation) -> None:
    cluster = replace(one_segment(), generation=generation)
    amp = seen(server1=WorkMode.AMP, server2=WorkMode.AMP)
    assert by_mode(PRODUCTS[generation], cluster, amp) is PRODUCTS[generation]
    assert (mode_facts(cluster), mode_facts(one_segment())) == ((), (NpuWorkMode,))
