"""Rounds by arithmetic: each unit once, the limits kept, and as few rounds as can be."""

from __future__ import annotations

from collections import Counter

import pytest

from rankready.mesh.bits import numbers, transposed
from rankready.mesh.probe import Mode
from rankready.mesh.rounds import Rounds
from rankready.mesh.schedule import Terms

PROOFS = (Mode.DIRECTED, Mode.ROUND_TRIP)
LARGE = (255, 256, 257, 500, 1000, 1023, 1024, 2047, 4095, 4096)


def terms(mode: Mode, per_host: int = 1, per_device: int = 1) -> Terms:
    return Terms(mode=mode, per_host=per_host, sparse_k=8, leaf=0, per_device=per_device)


def rail(kept: Terms, servers: int, rails: int = 1) -> Rounds:
    """The rounds of some rails of a cluster, as a schedule makes them."""
    half = kept.halved(servers)
    full = len(kept.shifts(servers)) - half
    return Rounds(rails=rails, full=full, half=half, per_host=kept.per_host, per_device=kept.per_device)


def assert_whole(made: Rounds) -> None:
    """Every unit once; no host, device or rail over its limit; as many rounds as the bound."""
    units = Counter(u for units in made for u in units)
    assert len(units) == made.rails * (made.full + made.half)
    assert set(units.values()) <= {1}
    for units_of_round in made:
        halves = {u.rail // 2 for u in units_of_round if made.half and u.step == made.full}
        singles = sum(not (made.half and u.step == made.full) for u in units_of_round)
        assert singles + len(halves) <= made.per_host
        assert max(Counter(u.rail for u in units_of_round).values()) <= made.per_device
        for pair in halves:  # the two rails of a half-way slot go together: half of the hosts call on each
            both = {u.rail for u in units_of_round if u.step == made.full and u.rail // 2 == pair}
            assert both == {r for r in (2 * pair, 2 * pair + 1) if r < made.rails}
    assert len(made) == made.least


@pytest.mark.parametrize("limit", range(1, 9))
@pytest.mark.parametrize("mode", PROOFS)
def test_one_rail_keeps_to_any_limit_in_the_fewest_rounds(mode: Mode, limit: int) -> None:
    """At most so many calls out of and into a device at a time (facts/mesh 3, T1, T2, T2c, T4)."""
    for servers in (*range(2, 131), *LARGE):
        made = rail(terms(mode, limit, limit), servers)
        if servers <= 130:
            assert_whole(made)
        pairs = servers - 1 if mode is Mode.DIRECTED else (servers - 1) / 2
        assert len(made) == -(-pairs // limit)


@pytest.mark.parametrize("mode", PROOFS)
def test_every_pair_of_a_rail_is_met_exactly_once(mode: Mode) -> None:
    for servers in range(2, 131):
        for number in (0, 1):  # an even rail and an odd one share their half-way shift otherwise
            out = [terms(mode).targets(servers, i, number) for i in range(servers)]
            everyone = (1 << servers) - 1
            for i, (calls, called) in enumerate(zip(out, transposed(out), strict=True)):
                others = everyone ^ 1 << i
                if mode is Mode.DIRECTED:
                    assert calls == called == others
                else:
                    assert calls | called == others
                    assert not calls & called


@pytest.mark.parametrize("servers", LARGE)
def test_every_pair_of_a_large_rail_is_met_exactly_once(servers: int) -> None:
    kept = terms(Mode.ROUND_TRIP)
    for i in (0, 1, servers // 2 - 1, servers // 2, servers - 1):
        mine = set(numbers(kept.targets(servers, i, 0)))
        called_by = {j for j in range(servers) if kept.targets(servers, j, 0) >> i & 1}
        assert mine | called_by == set(range(servers)) - {i}
        assert not mine & called_by
    assert sum(kept.targets(servers, i, 0).bit_count() for i in range(servers)) == kept.planned(servers)


@pytest.mark.parametrize("rails", [1, 2, 3, 7, 8, 16])
def test_many_rails_share_a_hosts_calls_in_the_fewest_rounds(rails: int) -> None:
    """⌈n(N−1)/(2H)⌉ and ⌈n(N−1)/H⌉ for every H up to n (facts/mesh 3, T5, T5d)."""
    for per_host in range(1, rails + 1):
        for servers in (*range(2, 40), 64, 65, 127, 128):
            for mode in PROOFS:
                made = rail(terms(mode, per_host), servers, rails)
                assert_whole(made)
                calls = rails * (servers - 1)
                if mode is Mode.DIRECTED or rails % 2 == 0:
                    assert len(made) == -(-calls // (per_host if mode is Mode.DIRECTED else 2 * per_host))


@pytest.mark.parametrize("rails", [8, 16])
def test_the_largest_cluster_needs_no_more_than_the_bound(rails: int) -> None:
    for per_host in range(1, rails + 1):
        for mode in PROOFS:
            made = rail(terms(mode, per_host), 4096, rails)
            calls = rails * 4095
            assert len(made) == made.least == -(-calls // (per_host if mode is Mode.DIRECTED else 2 * per_host))
            for at in (0, 1, len(made) // 2, len(made) - 2, len(made) - 1):
                assert 0 < len(made[at]) <= 2 * per_host


@pytest.mark.parametrize("mode", list(Mode))
def test_a_prefix_of_the_rounds_treats_rails_and_devices_alike(mode: Mode) -> None:
    made = rail(terms(mode, 3), 128, 8)
    done: Counter[int] = Counter()
    for units in made[: len(made) * 3 // 4]:
        done.update(u.rail for u in units)
        assert max(done.values()) - min(done[r] for r in range(8)) <= 1


@pytest.mark.parametrize("servers", [2, 7, 64, 1000])
def test_a_round_is_found_without_walking_there(servers: int) -> None:
    made = rail(terms(Mode.ROUND_TRIP, 3), servers, 8)
    assert made[-1] == list(made)[-1]
    assert made[:2] == tuple(made)[:2]
    with pytest.raises(IndexError):
        made[len(made)]


def test_turning_a_table_twice_gives_it_back() -> None:
    sparse = [1 << (7 * i) % 40 for i in range(40)]
    dense = [((1 << 40) - 1) ^ row for row in sparse]
    for table in (sparse, dense, [0] * 40):
        assert transposed(transposed(table)) == table
        assert [sum(row >> j & 1 for row in table) for j in range(40)] == [row.bit_count() for row in transposed(table)]
