"""A ledger's bits say what the same results say one by one."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from make_believe_fabric import Fabric

from rankready.mesh.coverage import coverage, unmeasured
from rankready.mesh.follow import follow_up
from rankready.mesh.hygiene import noisy_hosts, settled
from rankready.mesh.ledger import Ledger
from rankready.mesh.localise import localise
from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.reach import probe
from rankready.mesh.schedule import schedule
from rankready.mesh.tally import universes
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Generation
from rankready.model.place import device_place
from rankready.model.snapshot import Gap
from rankready.products import atlas_a1, atlas_a2

if TYPE_CHECKING:
    from rankready.mesh.probe import Probe
    from rankready.mesh.schedule import Schedule
    from rankready.mesh.tally import Universe

ANSWERS = ((3, 3), (3, 3), (3, 3), (3, 0), (3, 1), (1, 1), None)


def some_results(plan: Schedule, rng: random.Random) -> list[ProbeResult]:
    """Most planned calls with some answer, a few of them twice, and a few beside the plan."""
    calls = [p for probes in plan.rounds for p in probes if rng.random() < 0.8]
    calls += rng.sample(calls, len(calls) // 4)
    devices = list(plan.cluster.devices())
    for _ in range(4):
        a, b = rng.sample(devices, 2)
        calls.append(probe(plan.cluster, a, b))
    return [answered(p, rng.choice(ANSWERS)) for p in calls]


def answered(call: Probe, answer: tuple[int, int] | None) -> ProbeResult:
    if answer is None:
        return ProbeResult(probe=call, gap=Gap("in use"))
    return ProbeResult(probe=call, sent=answer[0], received=answer[1])


def said(found: tuple[Universe, ...]) -> set[frozenset[tuple[str, str, int, int]]]:
    """Universes without their numbering."""
    return {
        frozenset(
            (str(u.places[i]), str(u.places[j]), t.sent, t.received)
            for i, ties in enumerate(u.ties)
            for j, t in ties.items()
        )
        for u in found
    }


@settings(max_examples=60)
@given(
    servers=st.integers(2, 9),
    devices=st.sampled_from([(0,), (0, 1), (0, 4)]),
    mode=st.sampled_from(list(Mode)),
    seed=st.integers(0, 10_000),
)
def test_bits_and_lists_come_to_the_same(servers: int, devices: tuple[int, ...], mode: Mode, seed: int) -> None:
    cluster = make_cluster(servers, Generation.A1, devices=devices)
    plan = schedule(cluster, atlas_a1.PRODUCT, mode=mode, sparse_k=2)
    listed = some_results(plan, random.Random(seed))  # noqa: S311  (reproducible)
    ledger = Ledger.of(plan, listed)

    heard = [r for r in listed if r.gap is None]
    assert Counter(r for r in ledger if r.gap is None) == Counter(heard)
    assert ledger.packets == sum(r.sent for r in heard)
    assert said(universes(ledger)) == said(universes(listed))
    assert noisy_hosts(ledger) == noisy_hosts(listed)
    assert coverage(plan, ledger) == coverage(plan, listed)
    covered = coverage(plan, ledger)
    assert covered.proven + covered.connected + covered.failed + covered.unmeasured == covered.planned
    assert sum(unmeasured(ledger).values()) == covered.unmeasured
    away = ("server1",)
    kept, shaken = settled(listed, away)
    bits_kept, bits_shaken = settled(ledger, away)
    assert dict(shaken) == dict(bits_shaken)
    assert said(universes(bits_kept)) == said(universes(kept))
    hosts, gone = ("server2",), {device_place("server1", devices[0])}
    assert Counter(ledger.without(hosts=hosts, devices=gone).made_by()) <= Counter(ledger.made_by())
    rest = [r for r in heard if r.probe.source.name not in hosts and not gone & {r.probe.source, r.probe.target}]
    assert Counter(r for r in ledger.without(hosts=hosts, devices=gone) if r.gap is None) == Counter(rest)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("mode", [Mode.DIRECTED, Mode.SPARSE])
def test_the_same_is_blamed_and_followed_up(seed: int, mode: Mode) -> None:
    rng = random.Random(seed)  # noqa: S311  (reproducible)
    cluster = make_cluster(9, Generation.A2, devices=(0, 1, 2))
    devices = list(cluster.devices())
    fabric = Fabric(cluster=cluster, seed=seed, leaf_size=3)
    fabric.dead = set(rng.sample(devices, seed % 4))
    fabric.loss = {d: 0.4 for d in rng.sample(devices, seed % 3) if d not in fabric.dead}
    fabric.vlan = {d: 7 for d in rng.sample(devices, seed % 2 * 2) if d not in fabric.dead}
    plan = schedule(cluster, atlas_a2.PRODUCT, mode=mode)
    listed = [fabric.answer(p) for probes in plan.rounds for p in probes]
    ledger = Ledger.of(plan, listed)
    seen = fabric.seen()
    bits, single = localise(cluster, seen, ledger), localise(cluster, seen, listed)
    assert set(map(str, bits.suspects)) == set(map(str, single.suspects))
    assert bits.reached == single.reached
    assert set(bits.undecided) == set(single.undecided)
    more = follow_up(cluster, atlas_a2.PRODUCT, seen, ledger)
    assert Counter(more) == Counter(follow_up(cluster, atlas_a2.PRODUCT, seen, listed))
    assert {(v.code, v.place, v.outcome) for v in mesh_verdicts(cluster, seen, ledger, schedule=plan)} == {
        (v.code, v.place, v.outcome) for v in mesh_verdicts(cluster, seen, listed, schedule=plan)
    }


def test_a_reason_is_kept_once_however_many_calls_it_keeps_from_being_made() -> None:
    cluster = make_cluster(40, Generation.A2)
    plan = schedule(cluster, atlas_a2.PRODUCT, mode=Mode.DIRECTED)
    ledger = Ledger(plan)
    ledger.give_up(cluster.servers[0].place, Gap("connection lost"))
    ledger.give_up(device_place("server2", 0), Gap("link is down"))
    counts = unmeasured(ledger)
    assert counts["connection lost"] == 8 * 39
    assert counts["link is down"] == 39 + 38  # its own calls, and those to it of servers that go on
    assert sum(counts.values()) == plan.planned
    assert ledger.reason(device_place("server1", 3)) == Gap("connection lost")
    assert ledger.reason(device_place("server2", 0)) == Gap("link is down")


def test_an_answer_that_comes_later_counts_where_it_is_better() -> None:
    cluster = make_cluster(3, Generation.A2, devices=(0,))
    plan = schedule(cluster, atlas_a2.PRODUCT)
    call = next(plan.calls("server1"))
    ledger = Ledger.of(plan, [answered(call, (3, 0)), answered(call, (3, 3))])
    assert (coverage(plan, ledger).proven, coverage(plan, ledger).failed) == (1, 0)
    ledger = Ledger.of(plan, [answered(call, (3, 3)), answered(call, (3, 0))])
    assert (coverage(plan, ledger).proven, coverage(plan, ledger).failed) == (1, 0)
