"""Cases that broke some other tool, each by its name and with the answer that is expected (facts/mesh 13)."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster
from make_believe_fabric import UNREACHED, Fabric, failing, truth, walk

from rankready.mesh.clues import Kind
from rankready.mesh.localise import localise
from rankready.mesh.order import shift_order
from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Generation
from rankready.model.finding import Certainty, Outcome
from rankready.model.place import device_place
from rankready.model.snapshot import Gap, GapKind
from rankready.products import atlas_a1, atlas_a2, atlas_a3
from scenarios import scenario

if TYPE_CHECKING:
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.place import Place


@cache
def rail_of(servers: int) -> Cluster:
    return make_cluster(servers, Generation.A2, devices=(0,))


def at(*numbers: int) -> list[Place]:
    return [device_place(f"server{n}", 0) for n in numbers]


def some(fabric: Fabric, count: int, seed: int = 1) -> set[Place]:
    return set(random.Random(seed).sample(list(fabric.cluster.devices()), count))  # noqa: S311  (a choice)


def silent(*devices: Place) -> set[tuple[str, str]]:
    return {("NET009", str(d)) for d in devices}


def open_devices(judged: tuple[Verdict, ...]) -> set[str]:
    return {str(v.place) for v in judged if v.code == "NET009" and v.outcome is Outcome.UNKNOWN}


@pytest.mark.parametrize("share", [10, 4])
def test_a_tenth_and_a_quarter_dead_among_512_is_no_trap(share: int) -> None:
    fabric = Fabric(cluster=rail_of(512))
    fabric.dead = some(fabric, 512 // share)
    judged, _ = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == silent(*fabric.dead)


def test_a_whole_leaf_and_scattered_dead() -> None:
    fabric = Fabric(cluster=rail_of(128), dead_leaves={"leaf2r0"})
    fabric.dead = {d for d in some(fabric, 12) if fabric.leaf(d) != "leaf2r0"}
    judged, _ = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == silent(*fabric.dead) | {("NET009", "leaf2r0")}


def test_all_partners_of_one_device_dead() -> None:
    cluster = rail_of(64)
    made = schedule(cluster, atlas_a2.PRODUCT, sparse_k=2)
    (victim,) = at(20)
    partners = {b if a == victim else a for a, b in made.required() if victim in (a, b)}
    fabric = Fabric(cluster=cluster, dead=partners, leaf_size=64)
    first = [fabric.answer(p) for probes in made.rounds for p in probes]
    assert str(victim) in open_devices(mesh_verdicts(cluster, fabric.seen(), first))
    judged, _ = walk(fabric, atlas_a2.PRODUCT, sparse_k=2)
    assert failing(judged) == silent(*partners)
    assert str(victim) not in open_devices(judged)


@pytest.mark.parametrize("lost", [(5, 40), (5, 19, 40, 55)])
def test_devices_in_one_wrong_vlan_that_never_probed_each_other(lost: tuple[int, ...]) -> None:
    members = at(*lost)
    fabric = Fabric(cluster=rail_of(64), vlan=dict.fromkeys(members, 9), leaf_size=64)
    judged, results = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == silent(*members)
    (suspect,) = localise(fabric.cluster, fabric.seen(), results).suspects
    assert (suspect.kind, set(suspect.places)) == (Kind.ISLAND, set(members))


def test_a_leaf_cut_off_but_alive_inside() -> None:
    fabric = Fabric(cluster=rail_of(128), cut_leaves={"leaf1r0"})
    judged, results = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == {("NET009", "leaf1r0")}
    kinds = {s.kind for s in localise(fabric.cluster, fabric.seen(), results).suspects}
    assert Kind.LEAF_CUT_OFF in kinds


def test_the_last_leaf_with_one_device_is_that_device() -> None:
    """33 servers, 32 on a leaf: what is silent is one device or its leaf, and the nearer answer is the device."""
    fabric = Fabric(cluster=rail_of(33), dead_leaves={"leaf1r0"})
    judged, results = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == silent(*at(33))
    (suspect,) = localise(fabric.cluster, fabric.seen(), results).suspects
    assert "port" in suspect.next_test.en


def test_two_that_lose_half_and_meet_are_no_uplink() -> None:
    pair = at(2, 40)
    for seed in range(10):
        fabric = Fabric(cluster=rail_of(64), seed=seed, loss=dict.fromkeys(pair, 0.5))
        judged, _ = walk(fabric, atlas_a2.PRODUCT, sparse_k=16)
        assert failing(judged) == {("NET010", str(d)) for d in pair}


def test_every_device_has_met_a_lossy_one_in_a_full_mesh() -> None:
    lossy = dict.fromkeys(at(3, 9, 14), 0.4)
    fabric = Fabric(cluster=rail_of(16), loss=lossy, background=1e-4)
    judged, _ = walk(fabric, atlas_a2.PRODUCT, packets=150)
    assert failing(judged) == {("NET010", str(d)) for d in lossy}


@pytest.mark.parametrize("servers", [48, 64, 256])
def test_shifts_of_an_even_rail_are_never_all_odd(servers: int) -> None:
    """With odd shifts alone a rail falls into two camps, and which end of a pair is lossy can't be told."""
    for k in (3, 4, 8):
        assert any(s % 2 == 0 for s in shift_order(servers, 0)[:k])
    fabric = Fabric(cluster=rail_of(servers), loss=dict.fromkeys(at(2, 7), 0.5))
    judged, _ = walk(fabric, atlas_a2.PRODUCT, sparse_k=4)
    assert failing(judged) == {("NET010", str(d)) for d in at(2, 7)}


@pytest.mark.parametrize("k", [3, 4, 8])
def test_a_sound_rail_of_256_does_not_fall_apart(k: int) -> None:
    judged, _ = walk(Fabric(cluster=rail_of(256)), atlas_a2.PRODUCT, sparse_k=k)
    assert {v.outcome for v in judged} == {Outcome.PASS}


@pytest.mark.parametrize("servers", [2, 3, 5, 7, 17, 33])
@pytest.mark.parametrize("kind", ["dead", "loss"])
def test_two_three_odd_numbers_and_one_more_than_a_leaf(servers: int, kind: str) -> None:
    """33 servers of which 32 hang on one leaf, and every small and odd size."""
    cluster = make_cluster(servers, Generation.A2, devices=(0, 1, 2, 3))
    ill = device_place("server2", 3)
    fabric = Fabric(cluster=cluster, dead={ill}) if kind == "dead" else Fabric(cluster=cluster, loss={ill: 0.3})
    judged, _ = walk(fabric, atlas_a2.PRODUCT, packets=150 if kind == "loss" else 0, sparse_k=16)
    assert failing(judged) == {("NET009" if kind == "dead" else "NET010", str(ill))}


def test_two_devices_without_a_third_are_a_pair_and_a_test_that_splits_it() -> None:
    fabric = Fabric(cluster=rail_of(2), loss={at(2)[0]: 0.4})
    judged, results = walk(fabric, atlas_a2.PRODUCT, packets=150)
    (suspect,) = localise(fabric.cluster, fabric.seen(), results).suspects
    assert (suspect.kind, suspect.certainty) == (Kind.PAIR, Certainty.MAYBE)
    assert failing(judged) == {("NET010", str(d)) for d in at(1, 2)}
    assert "swap the cables of server1/0 and server2/0" in suspect.next_test.en


def test_of_three_devices_two_references_must_agree() -> None:
    """One pair of three that loses accuses nobody alone: both ends of it are named."""
    cluster = rail_of(3)
    results = [
        ProbeResult(probe=p, sent=3, received=1 if {p.source, p.target} == set(at(1, 2)) else 3)
        for _ in range(8)
        for probes in schedule(cluster, atlas_a2.PRODUCT).rounds
        for p in probes
    ]
    judged = mesh_verdicts(cluster, Fabric(cluster=cluster).seen(), results)
    assert failing(judged) == {("NET010", str(d)) for d in at(1, 2)}


def test_exactly_half_of_a_rail_dead_blames_nobody() -> None:
    fabric = Fabric(cluster=rail_of(8), dead=set(at(1, 2, 3, 4)))
    judged, results = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == {("NET011", "lab")}
    assert [s.kind for s in localise(fabric.cluster, fabric.seen(), results).suspects] == [Kind.PARTITION]


def test_one_starved_host_accuses_no_device() -> None:
    cluster = make_cluster(16)
    fabric = Fabric(cluster=cluster, starved={"server2": 0.3})
    judged, results = walk(fabric, atlas_a1.PRODUCT)
    assert not failing(judged)
    assert localise(cluster, fabric.seen(), results).slow_hosts == {"server2"}


def test_a_starved_host_among_few_is_no_reference_for_those_it_could_not_reach() -> None:
    made = scenario(1_004_481, "starved", 8)
    judged, results = walk(made.fabric, made.product, sparse_k=made.sparse_k, packets=made.packets)
    assert not failing(judged)
    (starved,) = made.fabric.starved
    assert localise(made.fabric.cluster, made.fabric.seen(), results).slow_hosts == {starved}


def test_a_true_loss_beside_a_starved_host_is_found() -> None:
    cluster = make_cluster(16)
    ill = device_place("server9", 4)
    fabric = Fabric(cluster=cluster, starved={"server2": 0.3}, loss={ill: 0.3})
    judged, _ = walk(fabric, atlas_a1.PRODUCT)
    assert failing(judged) == {("NET010", str(ill))}


@pytest.mark.parametrize("servers", [2, 3, 8, 64])
def test_a_host_that_reboots_in_mid_run_is_open_and_blamed_for_nothing(servers: int) -> None:
    for seed in range(5):
        cluster = make_cluster(servers, Generation.A2, devices=(0, 1, 2, 3))
        fabric = Fabric(cluster=cluster, seed=seed, rebooting={"server2": (0.3, 0.8)})
        judged, _ = walk(fabric, atlas_a2.PRODUCT)
        assert not failing(judged)
        assert ("HST001", "server2", Outcome.UNKNOWN) in {(v.code, str(v.place), v.outcome) for v in judged}
        assert not any(v.outcome is Outcome.PASS for v in judged if v.place.name == "server2" and v.code == "NET010")


def test_a_node_that_is_lost_between_probing_and_collecting_passes_nothing() -> None:
    cluster = rail_of(8)
    made = schedule(cluster, atlas_a2.PRODUCT)
    lost = at(3)[0]
    results = [
        ProbeResult(probe=p, gap=UNREACHED)
        if lost in (p.source, p.target)
        else ProbeResult(probe=p, sent=3, received=3)
        for probes in made.rounds
        for p in probes
    ]
    judged = mesh_verdicts(cluster, Fabric(cluster=cluster).seen(), results, schedule=made)
    assert open_devices(judged) == {"server3/0", "lab"}
    assert not failing(judged)


@pytest.mark.parametrize("reason", ["hccn_tool is busy", "no answer within 30 s", "device waits to be ready"])
def test_busy_hanging_and_unready_tools_are_no_failed_probes(reason: str) -> None:
    """A daemon that polls, a call that the time limit ends, a device that waits for minutes."""
    kind = GapKind.BUSY if "busy" in reason else GapKind.UNKNOWN
    cluster = rail_of(8)
    ill = at(3)[0]
    fabric = Fabric(cluster=cluster)
    for other in cluster.devices():
        fabric.gaps |= {(ill, other): Gap(reason, kind), (other, ill): Gap(reason, kind)}
    judged, _ = walk(fabric, atlas_a2.PRODUCT)
    assert not failing(judged)
    assert open_devices(judged) == {"server3/0", "lab"}


def test_a_share_of_busy_calls_everywhere_blames_nobody() -> None:
    fabric = Fabric(cluster=make_cluster(8), busy=0.3, seed=4)
    judged, _ = walk(fabric, atlas_a1.PRODUCT)
    assert not failing(judged)


def test_an_address_that_a_foreign_box_holds_too() -> None:
    """It answers for the device, and takes its echoes: what the device sends comes back to it now and then."""
    ill = at(5)[0]
    fabric = Fabric(cluster=rail_of(16), starved={}, seed=2)
    made = schedule(fabric.cluster, atlas_a2.PRODUCT)
    rng = random.Random(3)  # noqa: S311  (a simulation)
    results = [
        ProbeResult(probe=p, sent=3, received=sum(rng.random() < 0.5 for _ in range(3)) if p.source == ill else 3)
        for probes in made.rounds
        for p in probes
    ]
    judged = mesh_verdicts(fabric.cluster, fabric.seen(), results)
    assert failing(judged) == {("NET010", str(ill))}


def test_a_swap_cycle_of_three_follows_from_its_cables() -> None:
    """Three cables of one server in a ring, each device in another's segment: the cables are named, nothing else."""
    fabric = Fabric(cluster=make_cluster(6))
    a, b, c = (device_place("server2", d) for d in (0, 1, 2))
    fabric.swapped = [(a, b), (b, c)]
    fabric.vlan = {a: 1, b: 2, c: 3}
    judged, _ = walk(fabric, atlas_a1.PRODUCT)
    assert failing(judged) == {("CAB002", str(d)) for d in (a, b, c)}


@pytest.mark.parametrize("kind", ["tls", "mtu", "narrow", "twins", "told_vlan", "link"])
def test_what_the_audit_tells_is_told_once(kind: str) -> None:
    """TLS on one die, an odd MTU, a wrong mask, a doubled address, a told VLAN, a dark port: one finding each."""
    from scenarios import scenario

    for servers in (3, 8, 17):
        case = scenario(5, kind, servers)
        judged, _ = walk(case.fabric, case.product)
        assert failing(judged) == truth(case.fabric), case.name


def test_a3_sibling_dies_are_never_asked_and_the_upper_eight_are() -> None:
    cluster = make_cluster(4, Generation.A3)
    upper = device_place("server2", 12)
    made = schedule(cluster, atlas_a3.PRODUCT)
    pairs = {(p.source, p.target) for probes in made.rounds for p in probes}
    assert not any(a.name == b.name and a.device ^ 1 == b.device for a, b in pairs)
    judged, _ = walk(Fabric(cluster=cluster, dead={upper}), atlas_a3.PRODUCT)
    assert failing(judged) == silent(upper)


def test_a_full_neighbour_table_hides_some_partners_for_good() -> None:
    """All or nothing, partner by partner: a table that is full, a mask, a filter; no bad cable does that."""
    ill = at(4)[0]
    hidden = set(at(*range(9, 17)))
    fabric = Fabric(
        cluster=rail_of(16), cut=lambda a, b: (a == ill and b in hidden) or (b == ill and a in hidden), leaf_size=64
    )
    judged, _ = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == {("NET011", str(ill))}


def test_a_device_that_a_job_holds_is_open() -> None:
    cluster = rail_of(8)
    held = at(2)[0]
    fabric = Fabric(cluster=cluster)
    for other in cluster.devices():
        gap = Gap("server2/0: a job holds it")
        fabric.gaps |= {(held, other): gap, (other, held): gap}
    judged, _ = walk(fabric, atlas_a2.PRODUCT, mode=Mode.DIRECTED)
    assert "server2/0" in open_devices(judged)
    assert "a job holds it" in next(v.reason for v in judged if v.place == held)


def test_two_servers_of_which_one_is_off_say_that_it_does_not_answer() -> None:
    fabric = Fabric(cluster=make_cluster(2), dead_servers={"server2"})
    judged, _ = walk(fabric, atlas_a1.PRODUCT)
    assert not failing(judged)
    implied = {str(v.place): v.reason for v in judged if v.outcome is Outcome.IMPLIED}
    assert implied["server2"] == "HST001 server2"
    rail_only = Fabric(cluster=rail_of(2), dead_servers={"server2"})
    judged, _ = walk(rail_only, atlas_a2.PRODUCT)
    assert not failing(judged)
    assert {v.reason for v in judged if v.outcome is Outcome.IMPLIED} == {"HST001 server2"}
