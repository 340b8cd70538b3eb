"""Which way packets are lost: told by counters, or said to be unknown; never guessed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from healthy_cluster import make_cluster
from make_believe_fabric import Fabric, walk

from rankready.mesh.clues import Kind
from rankready.mesh.direction import Burst, Trial, Watch, direction, trial, unsettled, watches
from rankready.mesh.localise import localise
from rankready.mesh.probe import ProbeResult
from rankready.mesh.schedule import schedule
from rankready.mesh.suspect import Way
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Generation, Topology
from rankready.model.finding import Outcome
from rankready.model.place import device_place
from rankready.products import atlas_a1, atlas_a2

X, R = device_place("server2", 3), device_place("server1", 3)


def tried(there: Burst, back: Burst) -> Trial:
    return Trial(suspect=X, reference=R, there=there, back=back)


TO_IT = tried(Burst(sent=24, received=0, went=24, came=0, back=0), Burst(sent=24, received=0, went=24, came=24, back=0))
FROM_IT = tried(
    Burst(sent=24, received=0, went=24, came=24, back=0), Burst(sent=24, received=0, went=24, came=0, back=0)
)
BOTH = tried(Burst(sent=24, received=0, went=24, came=0, back=0), Burst(sent=24, received=0, went=24, came=0, back=0))


def test_packets_that_the_reference_alone_counts_are_lost_towards_the_suspect() -> None:
    found = direction(TO_IT)
    assert (found.way, found.towards, found.away) == (Way.TOWARDS, 48, 0)


def test_packets_that_the_suspect_alone_counts_are_lost_from_it() -> None:
    assert direction(FROM_IT).way is Way.FROM


def test_silence_at_both_ports_names_no_way() -> None:
    assert direction(BOTH).way is Way.BOTH


def test_a_part_lost_one_way_is_told_from_a_part_lost_both_ways() -> None:
    half = tried(
        Burst(sent=60, received=30, went=60, came=30, back=30), Burst(sent=60, received=30, went=60, came=60, back=30)
    )
    assert direction(half).way is Way.TOWARDS
    even = tried(
        Burst(sent=60, received=30, went=60, came=45, back=30), Burst(sent=60, received=30, went=60, came=45, back=30)
    )
    assert direction(even).way is Way.BOTH


def test_other_traffic_at_a_port_is_taken_off() -> None:
    """A port in a foreign VLAN hears that VLAN's frames, as many as were sent to it, and none of ours."""
    noisy = tried(
        Burst(sent=24, received=0, went=24, came=24, back=0), Burst(sent=24, received=0, went=24, came=0, back=24)
    )
    assert direction(noisy).way is not Way.FROM
    told = tried(
        Burst(sent=24, received=0, went=30, came=6, back=5), Burst(sent=24, received=0, went=30, came=31, back=6)
    )
    assert direction(told).way is Way.TOWARDS


def test_a_caller_that_finds_no_hardware_address_sends_less_than_it_was_asked_to() -> None:
    few = tried(
        Burst(sent=24, received=0, went=12, came=12, back=0), Burst(sent=24, received=0, went=12, came=0, back=0)
    )
    assert direction(few).way is Way.FROM


@pytest.mark.parametrize("missing", ["went", "came", "back"])
def test_a_counter_that_is_not_told_leaves_the_way_unknown(missing: str) -> None:
    for burst in ("there", "back"):
        dumb = replace(TO_IT, **{burst: replace(getattr(TO_IT, burst), **{missing: None})})
        found = direction(dumb)
        assert found.way is Way.UNKNOWN
        assert found.why is not None
        assert "read" in found.why.en


def test_counters_that_stand_still_leave_the_way_unknown() -> None:
    still = Burst(sent=24, received=0, went=0, came=0, back=0)
    found = direction(tried(still, still))
    assert found.way is Way.UNKNOWN
    assert found.why is not None
    assert "do not count" in found.why.en


def test_a_receive_counter_that_stands_still_is_no_proof_of_loss() -> None:
    """Nothing counted on arrival, at either port: that may be the counters, and names no way."""
    assert direction(BOTH).way not in (Way.TOWARDS, Way.FROM)


def test_few_losses_name_no_way_and_are_tried_once_more() -> None:
    few = tried(
        Burst(sent=24, received=22, went=24, came=22, back=22), Burst(sent=24, received=24, went=24, came=24, back=24)
    )
    assert direction(few).way is Way.UNKNOWN
    watch = Watch(suspect=X, reference=R, calls=8)
    assert unsettled([(watch,)], [few]) == ((watch,),)
    assert unsettled([(watch,)], [TO_IT]) == ()


def test_a_counter_that_was_reset_in_between_is_not_believed() -> None:
    watch = Watch(suspect=X, reference=R, calls=8)
    readings = [{X: (100, 100), R: (100, 100)}, {X: (100, 100), R: (124, 100)}, {X: (3, 0), R: (124, 124)}]
    made = trial(watch, readings, ([(3, 0)] * 8, [(3, 0)] * 8))
    assert made.back.went is None
    assert direction(made).way is Way.UNKNOWN
    sound = [*readings[:2], {X: (124, 100), R: (124, 124)}]
    assert direction(trial(watch, sound, ([(3, 0)] * 8, [(3, 0)] * 8))).way is Way.TOWARDS


@pytest.mark.parametrize("servers", [2, 3, 5, 16])
@pytest.mark.parametrize("inward", [True, False])
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_the_way_is_named_in_both_languages(servers: int, inward: bool, rate: float) -> None:  # noqa: FBT001  (a case)
    fabric = Fabric(cluster=make_cluster(servers), noise=2)
    (fabric.loss_in if inward else fabric.loss_out)[X] = rate
    judged, results = walk(fabric, atlas_a1.PRODUCT)
    (suspect,) = localise(fabric.cluster, fabric.seen(), results, trials=fabric.trials).suspects
    assert suspect.kind is (Kind.ONE_WAY_IN if inward else Kind.ONE_WAY_OUT)
    assert suspect.direction is not None
    (found,) = (f for v in judged if v.outcome is Outcome.FAIL for f in v.findings)
    said = ("packets to server2/3 are lost", "发往 server2/3 的报文丢失")
    other = ("packets from server2/3 are lost", "由 server2/3 发出的报文丢失")
    assert [said[0] in found.message.en, said[1] in found.message.zh] == [inward, inward]
    assert [other[0] in found.message.en, other[1] in found.message.zh] == [not inward, not inward]


def test_a_device_that_is_dead_both_ways_stays_a_dead_device() -> None:
    fabric = Fabric(cluster=make_cluster(4), dead={X}, noise=2)
    _, results = walk(fabric, atlas_a1.PRODUCT)
    (suspect,) = localise(fabric.cluster, fabric.seen(), results, trials=fabric.trials).suspects
    assert suspect.kind is Kind.DEVICE
    assert suspect.direction is not None
    assert suspect.direction.way is Way.BOTH


def test_without_counters_the_suspect_stands_and_its_way_is_said_to_be_unknown() -> None:
    fabric = Fabric(cluster=make_cluster(4), loss_in={X: 1.0}, counting=False)
    judged, results = walk(fabric, atlas_a1.PRODUCT)
    (suspect,) = localise(fabric.cluster, fabric.seen(), results, trials=fabric.trials).suspects
    assert suspect.kind is Kind.DEVICE
    (found,) = (f for v in judged if v.outcome is Outcome.FAIL for f in v.findings)
    assert "which way is not known: the counters can't be read" in found.message.en


def test_the_two_ends_of_a_fibre_watch_each_other_and_no_leaf_is_spoken_of() -> None:
    cluster = make_cluster(2, Generation.A1, Topology.DIRECT)
    fabric = Fabric(cluster=cluster, loss_out={X: 1.0})
    judged, results = walk(fabric, atlas_a1.PRODUCT)
    (suspect,) = localise(cluster, fabric.seen(), results, trials=fabric.trials).suspects
    assert suspect.kind is Kind.FIBRE
    assert suspect.direction is not None
    assert (suspect.direction.way, suspect.places[0]) in ((Way.FROM, X), (Way.TOWARDS, R))
    assert "leaf" not in suspect.next_test.en + suspect.next_test.zh
    findings = [f for v in judged if v.outcome is Outcome.FAIL for f in v.findings]
    assert {str(f.place) for f in findings} == {"server1/3", "server2/3"}
    assert all("leaf" not in f.message.en + str(f.remedy) for f in findings)


def test_no_device_takes_part_in_two_trials_of_a_round_and_no_suspect_is_a_reference() -> None:
    cluster = make_cluster(8, Generation.A2, devices=(0, 1))
    ill = {device_place(f"server{n}", d): 0.4 for n in (1, 2, 3) for d in (0, 1)}
    fabric = Fabric(cluster=cluster, loss=ill)
    _, results = walk(fabric, atlas_a2.PRODUCT)
    rounds = watches(cluster, atlas_a2.PRODUCT, localise(cluster, fabric.seen(), results))
    assert {w.suspect for watched in rounds for w in watched} == set(ill)
    for watched in rounds:
        ends = [end for w in watched for end in (w.suspect, w.reference)]
        assert len(ends) == len(set(ends))
        assert not {w.reference for w in watched} & set(ill)


def test_a_silent_server_is_not_watched_device_by_device() -> None:
    fabric = Fabric(cluster=make_cluster(4), dead_servers={"server2"})
    _, results = walk(fabric, atlas_a1.PRODUCT)
    where = localise(fabric.cluster, fabric.seen(), results, audit=fabric.audit())
    assert [s.kind for s in where.suspects if s.kind is not Kind.DEVICE] == [Kind.SERVER]
    assert watches(fabric.cluster, atlas_a1.PRODUCT, where) == ()


def test_a_trial_never_makes_a_pass() -> None:
    """Whatever the counters say, who is silent stays so."""
    cluster = make_cluster(4)
    fabric = Fabric(cluster=cluster, dead={X})
    results = [fabric.answer(p) for probes in schedule(cluster, atlas_a1.PRODUCT).rounds for p in probes]
    assert all(isinstance(r, ProbeResult) for r in results)
    for made in (TO_IT, FROM_IT, BOTH):
        judged = mesh_verdicts(cluster, fabric.seen(), results, trials=[made])
        assert next(v for v in judged if v.place == X).outcome is Outcome.FAIL
