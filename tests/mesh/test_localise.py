"""Who is named, who is not, and who stays open."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster
from make_believe_fabric import Fabric, failing, truth, walk

from rankready.kind.check import finding
from rankready.mesh.clues import Kind
from rankready.mesh.coverage import coverage
from rankready.mesh.follow import follow_up
from rankready.mesh.localise import localise
from rankready.mesh.probe import ProbeResult
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Generation, Topology
from rankready.model.finding import Certainty, Outcome, Verdict, exit_code
from rankready.model.place import device_place, parse_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot
from rankready.model.text import Text
from rankready.products import atlas_a1, atlas_a2
from scenarios import HARD, SMALL, scenario

if TYPE_CHECKING:
    from rankready.mesh.probe import Mode, Probe
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

NOTHING = Seen(Snapshot())
X = device_place("server2", 3)


def outcomes(judged: tuple[Verdict, ...], code: str = "NET009") -> dict[str, str]:
    return {str(v.place): v.outcome.value for v in judged if v.code == code and v.outcome is not Outcome.PASS}


def probe_all(cluster: Cluster, fabric: Fabric, mode: Mode | None = None) -> list[ProbeResult]:
    product = atlas_a1.PRODUCT if cluster.generation is Generation.A1 else atlas_a2.PRODUCT
    made = schedule(cluster, product, mode=mode)
    return [fabric.answer(p) for probes in made.rounds for p in probes]


def audit(code: str, place: Place) -> tuple[Verdict, ...]:
    found = finding(code, place, Text("a", "甲"), remedy="do")
    return (Verdict(code=code, place=place, outcome=Outcome.FAIL, findings=(found,)),)


@pytest.mark.parametrize("servers", [2, 3, 4, 16])
@pytest.mark.parametrize("generation", [Generation.A1, Generation.A2])
def test_one_silent_device_is_named_and_nobody_else(servers: int, generation: Generation) -> None:
    cluster = make_cluster(servers, generation)
    judged, results = walk(Fabric(cluster=cluster, dead={X}), atlas_a1.PRODUCT)
    assert failing(judged) == {("NET009", "server2/3")}
    assert outcomes(judged) == {"server2/3": "fail"}
    (suspect,) = localise(cluster, NOTHING, results).suspects
    assert (suspect.places, suspect.kind) == ((X,), Kind.DEVICE)
    assert suspect.witnesses >= 2


@pytest.mark.parametrize("servers", [2, 3, 16])
def test_a_healthy_fabric_is_quiet_and_complete(servers: int) -> None:
    judged, _ = walk(Fabric(cluster=make_cluster(servers)), atlas_a1.PRODUCT)
    assert {v.outcome for v in judged} == {Outcome.PASS}
    assert exit_code(judged) == 0


def test_two_directly_joined_devices_stay_a_pair_of_suspects() -> None:
    cluster = make_cluster(2, Generation.A1, Topology.DIRECT)
    judged, results = walk(Fabric(cluster=cluster, dead={X}), atlas_a1.PRODUCT)
    assert failing(judged) == {("NET011", "server1/3"), ("NET011", "server2/3")}
    assert outcomes(judged) == {"server1/3": "unknown", "server2/3": "unknown"}
    (suspect,) = localise(cluster, NOTHING, results).suspects
    assert {str(p) for p in suspect.places} == {"server1/3", "server2/3"}
    assert suspect.certainty is Certainty.MAYBE
    assert "exchange the fibre between server1/3 and server2/3" in suspect.next_test.en


def test_a_pair_is_split_by_a_known_fault_at_one_end() -> None:
    cluster = make_cluster(2, Generation.A1, Topology.DIRECT)
    results = probe_all(cluster, Fabric(cluster=cluster, dead={X}))
    judged = mesh_verdicts(cluster, NOTHING, results, audit=audit("CAB002", X))
    assert outcomes(judged) == {"server1/3": "implied", "server2/3": "implied"}
    assert not failing(judged)
    assert next(v.reason for v in judged if v.place == device_place("server1", 3)) == "CAB002 server2/3"


@pytest.mark.parametrize("code", ["NET001", "NET002", "NET003", "NET004", "CAB002", "CAB003"])
def test_a_silent_device_with_an_audit_root_is_implied(code: str) -> None:
    cluster = make_cluster(3)
    results = probe_all(cluster, Fabric(cluster=cluster, dead={X}))
    judged = mesh_verdicts(cluster, NOTHING, results, audit=audit(code, X))
    assert outcomes(judged) == {"server2/3": "implied"}
    assert next(v.reason for v in judged if v.place == X) == f"{code} server2/3"


def test_other_findings_there_explain_nothing() -> None:
    cluster = make_cluster(3)
    results = probe_all(cluster, Fabric(cluster=cluster, dead={X}))
    assert outcomes(mesh_verdicts(cluster, NOTHING, results, audit=audit("TLS001", X))) == {"server2/3": "fail"}


def test_a_device_that_was_not_called_for_a_known_fault_is_implied() -> None:
    cluster = make_cluster(3)
    made = schedule(cluster, atlas_a1.PRODUCT)
    fabric = Fabric(cluster=cluster)
    results = [
        ProbeResult(probe=p, gap=Gap("link is down")) if X in (p.source, p.target) else fabric.answer(p)
        for probes in made.rounds
        for p in probes
    ]
    judged = mesh_verdicts(cluster, NOTHING, results, audit=audit("NET001", X), schedule=made)
    assert outcomes(judged) == {"server2/3": "implied"}
    assert exit_code((*audit("NET001", X), *judged)) == 1


def test_a_call_that_could_not_be_made_is_no_failed_probe() -> None:
    cluster = make_cluster(3)
    made = schedule(cluster, atlas_a1.PRODUCT)
    fabric = Fabric(cluster=cluster)
    busy = Gap("the tool is busy", GapKind.BUSY)
    results = [
        ProbeResult(probe=p, gap=busy) if X in (p.source, p.target) else fabric.answer(p)
        for probes in made.rounds
        for p in probes
    ]
    judged = mesh_verdicts(cluster, NOTHING, results, schedule=made)
    assert not failing(judged)
    assert outcomes(judged) == {"server2/3": "unknown", "lab": "unknown"}
    assert exit_code(judged) == 3
    covered = coverage(made, results)
    assert (covered.proven, covered.planned, covered.unmeasured) == (44, 48, 4)
    assert not covered.complete


def test_no_probe_at_all_is_unknown_everywhere() -> None:
    cluster = make_cluster(3)
    judged = mesh_verdicts(cluster, NOTHING, [])
    assert {v.outcome for v in judged} == {Outcome.UNKNOWN}


def test_half_of_a_rail_dead_is_a_partition_without_a_culprit() -> None:
    cluster = make_cluster(4, Generation.A2, devices=(0,))
    dead = {device_place("server1", 0), device_place("server2", 0)}
    results = probe_all(cluster, Fabric(cluster=cluster, dead=dead))
    judged = mesh_verdicts(cluster, NOTHING, results)
    assert failing(judged) == {("NET011", "lab")}
    assert set(outcomes(judged).values()) == {"unknown"}


def test_two_halves_that_do_not_meet_blame_nobody() -> None:
    cluster = make_cluster(4, Generation.A2, devices=(0,))
    other = {device_place("server1", 0): 7, device_place("server2", 0): 7}
    judged, results = walk(Fabric(cluster=cluster, vlan=other), atlas_a2.PRODUCT)
    assert failing(judged) == {("NET011", "lab")}
    (suspect,) = localise(cluster, NOTHING, results).suspects
    assert suspect.kind is Kind.PARTITION


def test_two_in_one_wrong_vlan_that_never_met_are_one_island() -> None:
    cluster = make_cluster(64, Generation.A2, devices=(0,))
    lost = [device_place("server5", 0), device_place("server40", 0)]
    fabric = Fabric(cluster=cluster, vlan=dict.fromkeys(lost, 9), leaf_size=64)
    made = schedule(cluster, atlas_a2.PRODUCT, sparse_k=8)
    assert tuple(lost) not in set(made.required())
    judged, results = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == {("NET009", str(d)) for d in lost}
    (suspect,) = localise(cluster, NOTHING, results).suspects
    assert (suspect.kind, set(suspect.places)) == (Kind.ISLAND, set(lost))


def test_a_device_whose_partners_all_died_is_open_and_then_cleared() -> None:
    cluster = make_cluster(64, Generation.A2, devices=(0,))
    made = schedule(cluster, atlas_a2.PRODUCT, sparse_k=2)
    victim = device_place("server20", 0)
    partners = {b if a == victim else a for a, b in made.required() if victim in (a, b)}
    fabric = Fabric(cluster=cluster, dead=partners, leaf_size=64)
    first = [fabric.answer(p) for probes in made.rounds for p in probes]
    assert outcomes(mesh_verdicts(cluster, fabric.seen(), first))[str(victim)] == "unknown"
    judged, _ = walk(fabric, atlas_a2.PRODUCT, sparse_k=2)
    assert failing(judged) == {("NET009", str(d)) for d in partners}
    assert str(victim) not in outcomes(judged)


@pytest.mark.parametrize("cut", [False, True])
def test_a_whole_leaf_is_one_root_and_its_devices_follow(cut: bool) -> None:  # noqa: FBT001  (a case)
    cluster = make_cluster(16, Generation.A2, devices=(0, 1))
    fabric = Fabric(cluster=cluster, leaf_size=4)
    (fabric.cut_leaves if cut else fabric.dead_leaves).add("leaf1r0")
    judged, _ = walk(fabric, atlas_a2.PRODUCT)
    assert failing(judged) == {("NET009", "leaf1r0")}
    assert outcomes(judged) == {"leaf1r0": "fail"} | {f"server{n}/0": "implied" for n in range(5, 9)}


def test_a_dead_server_is_one_root_although_it_calls_nobody() -> None:
    cluster = make_cluster(8)
    judged, _ = walk(Fabric(cluster=cluster, dead_servers={"server2"}), atlas_a1.PRODUCT)
    assert failing(judged) == {("NET009", "server2")}
    assert outcomes(judged)["server2/3"] == "implied"


def test_a_starved_host_blames_no_device() -> None:
    cluster = make_cluster(16)
    judged, results = walk(Fabric(cluster=cluster, starved={"server2": 0.3}), atlas_a1.PRODUCT)
    assert not failing(judged)
    where = localise(cluster, NOTHING, results)
    assert where.slow_hosts == {"server2"}
    assert [(str(s.places[0]), s.kind) for s in where.suspects] == [("server2", Kind.SLOW_HOST)]


@pytest.mark.parametrize("servers", [2, 3, 4])
def test_a_lossy_device_that_one_host_calls_again_and_again_makes_no_slow_host(servers: int) -> None:
    cluster = make_cluster(servers)
    loss = {X: 0.3, device_place("server2", 5): 0.3}
    for seed in range(10):
        _, results = walk(Fabric(cluster=cluster, seed=seed, loss=loss), atlas_a1.PRODUCT)
        assert localise(cluster, NOTHING, results).slow_hosts == frozenset()


def test_a_suspect_that_the_audit_knows_is_suspected_of_that() -> None:
    cluster = make_cluster(16)
    _, results = walk(Fabric(cluster=cluster, loss={X: 0.5}), atlas_a1.PRODUCT)
    (suspect,) = localise(cluster, NOTHING, results, audit=audit("NET003", X)).suspects
    assert (suspect.kind, suspect.places) == (Kind.DUPLICATE, (X,))


@pytest.mark.parametrize("servers", [2, 3, 16])
def test_a_lossy_device_is_named(servers: int) -> None:
    cluster = make_cluster(servers, Generation.A2)
    judged, _ = walk(Fabric(cluster=cluster, loss={X: 0.3}), atlas_a2.PRODUCT)
    assert failing(judged) == {("NET010", "server2/3")}
    assert outcomes(judged) == {}


def test_one_lost_packet_blames_nobody() -> None:
    cluster = make_cluster(2)
    made = schedule(cluster, atlas_a1.PRODUCT)
    results = [ProbeResult(probe=p, sent=3, received=3) for probes in made.rounds for p in probes]
    results[5] = replace(results[5], received=2)
    assert not failing(mesh_verdicts(cluster, NOTHING, results))
    more = follow_up(cluster, atlas_a1.PRODUCT, NOTHING, results)
    assert {p.target for p in more} == {results[5].probe.source, results[5].probe.target}


def test_a_lossy_fibre_names_both_ends() -> None:
    cluster = make_cluster(2, Generation.A1, Topology.DIRECT)
    judged, results = walk(Fabric(cluster=cluster, loss={X: 0.4}), atlas_a1.PRODUCT)
    assert failing(judged) == {("NET010", "server1/3"), ("NET010", "server2/3")}
    (suspect,) = localise(cluster, NOTHING, results).suspects
    assert suspect.kind is Kind.FIBRE


def test_two_heavy_losers_that_met_are_no_broken_path() -> None:
    cluster = make_cluster(8, Generation.A2, devices=(0,))
    pair = {device_place("server2", 0): 0.5, device_place("server5", 0): 0.5}
    for seed in range(20):
        judged, _ = walk(Fabric(cluster=cluster, seed=seed, loss=pair), atlas_a2.PRODUCT)
        assert failing(judged) == {("NET010", str(d)) for d in pair}


def test_a_dead_pair_between_good_devices_is_a_path() -> None:
    cluster = make_cluster(8, Generation.A2, devices=(0,))
    a, b = device_place("server2", 0), device_place("server5", 0)

    def answer(p: Probe) -> ProbeResult:
        return ProbeResult(probe=p, sent=3, received=0 if {p.source, p.target} == {a, b} else 3)

    made = schedule(cluster, atlas_a2.PRODUCT)
    results = [answer(p) for probes in made.rounds for p in probes]
    judged = mesh_verdicts(cluster, NOTHING, results)
    assert failing(judged) == {("NET011", str(a)), ("NET011", str(b))}
    implied = mesh_verdicts(cluster, NOTHING, results, audit=audit("NET004", b))
    assert not failing(implied)


def test_a_device_that_reaches_some_and_never_others_is_no_lossy_one() -> None:
    cluster = make_cluster(16, Generation.A2, devices=(0,))
    me = device_place("server2", 0)
    beyond = {device_place(f"server{n}", 0) for n in range(9, 17)}

    def answer(p: Probe) -> ProbeResult:
        cut = me in (p.source, p.target) and bool(beyond & {p.source, p.target})
        return ProbeResult(probe=p, sent=3, received=0 if cut else 3)

    results = [answer(p) for probes in schedule(cluster, atlas_a2.PRODUCT).rounds for p in probes]
    judged = mesh_verdicts(cluster, NOTHING, results)
    assert failing(judged) == {("NET011", "server2/0")}


@pytest.mark.parametrize("kind", [*HARD, "healthy", "starved", "uplinks"])
def test_the_bench_in_small(kind: str) -> None:
    for servers in (*SMALL, 64, 128):
        for seed in range(3):
            case = scenario(seed, kind, servers)
            judged, _ = walk(case.fabric, case.product, sparse_k=case.sparse_k)
            assert failing(judged) == truth(case.fabric), case.name


@pytest.mark.parametrize("kind", ["loss", "mixed"])
def test_partial_loss_is_never_pinned_on_the_wrong_device(kind: str) -> None:
    found = wanted = 0
    for servers in (3, 5, 8, 16, 33, 64):
        for seed in range(3):
            case = scenario(seed, kind, servers)
            judged, _ = walk(case.fabric, case.product, sparse_k=case.sparse_k)
            right = truth(case.fabric)
            assert failing(judged) <= right, case.name
            found, wanted = found + len(failing(judged)), wanted + len(right)
    assert found >= 0.95 * wanted


@pytest.mark.parametrize("kind", ["dead", "vlan", "loss", "mixed"])
@pytest.mark.parametrize("servers", [2, 5, 17])
def test_order_and_direction_do_not_matter(kind: str, servers: int) -> None:
    case = scenario(1, kind, servers)
    _judged, results = walk(case.fabric, case.product)
    seen, cluster = case.fabric.seen(), case.fabric.cluster
    shuffled = random.Random(5).sample(results, len(results))  # noqa: S311  (a shuffle)
    assert set(map(str, mesh_verdicts(cluster, seen, shuffled))) == set(map(str, mesh_verdicts(cluster, seen, results)))
    turned = [replace(r, probe=replace(r.probe, source=r.probe.target, target=r.probe.source)) for r in results]
    assert failing(mesh_verdicts(cluster, seen, turned)) == failing(mesh_verdicts(cluster, seen, results))


@pytest.mark.parametrize("kind", ["dead", "vlan", "server", "leaf"])
@pytest.mark.parametrize("servers", [3, 8, 33])
def test_losing_observations_never_makes_a_pass(kind: str, servers: int) -> None:
    case = scenario(2, kind, servers)
    _, results = walk(case.fabric, case.product)
    seen, cluster = case.fabric.seen(), case.fabric.cluster
    whole = {v.place: v.outcome for v in mesh_verdicts(cluster, seen, results) if v.code == "NET009"}
    for share in (0.7, 0.3, 0.05):
        kept = [r for r in results if random.Random(f"{r.probe}{share}").random() < share]  # noqa: S311  (a sample)
        for verdict in mesh_verdicts(cluster, seen, kept):
            if verdict.code == "NET009" and verdict.outcome is Outcome.PASS:
                assert whole[verdict.place] is Outcome.PASS


def test_findings_speak_both_languages() -> None:
    for kind in ("dead", "vlan", "leaf", "server", "uplinks", "loss"):
        case = scenario(1, kind, 128)
        judged, _ = walk(case.fabric, case.product)
        for found in (f for v in judged for f in v.findings):
            assert found.message.en.isascii() or "…" in found.message.en
            assert not found.message.zh.isascii()


def test_places_of_suspects_can_be_typed() -> None:
    case = scenario(1, "dead", 8)
    _, results = walk(case.fabric, case.product)
    for suspect in localise(case.fabric.cluster, NOTHING, results).suspects:
        assert all(parse_place(str(p)) == p for p in suspect.places)
