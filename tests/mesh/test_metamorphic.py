"""What must not change when something is changed that should not matter, and what must when it should."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from healthy_cluster import make_cluster
from hypothesis import given, settings
from hypothesis import strategies as st
from make_believe_fabric import Fabric, failing, walk

from rankready.mesh.localise import localise
from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.reach import probe
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.cluster import Generation
from rankready.model.finding import Outcome
from rankready.model.place import PlaceKind, device_place
from rankready.model.snapshot import Seen, Snapshot
from rankready.products import atlas_a2

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rankready.mesh.probe import Probe
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.place import Place

NOTHING = Seen(Snapshot())
MANY = settings(max_examples=25)
DEAD, LOSSY = "dead", "lossy"
Faults = dict["Place", str]


@cache
def cluster_of(servers: int, rails: int = 1) -> Cluster:
    return make_cluster(servers, Generation.A2, devices=tuple(range(rails)) if rails > 1 else (0,))


def echoes(faults: Faults, a: Place, b: Place) -> int:
    """How many of three packets come back: the kinds of both ends tell, and no chance is in it."""
    here, there = faults.get(a, ""), faults.get(b, "")
    if DEAD in (here, there):
        return 0
    if here.startswith("vlan") or there.startswith("vlan"):
        return 3 if here == there else 0
    return 3 - (here == LOSSY) - (there == LOSSY)


def probed(cluster: Cluster, faults: Faults, *, per_host: int = 1, mode: Mode | None = None) -> list[ProbeResult]:
    plan = schedule(cluster, atlas_a2.PRODUCT, per_host=per_host, mode=mode)
    return [answered(p, faults) for probes in plan.rounds for p in probes]


def answered(p: Probe, faults: Faults) -> ProbeResult:
    return ProbeResult(probe=p, sent=3, received=echoes(faults, p.source, p.target))


def told(cluster: Cluster, results: Sequence[ProbeResult]) -> set[tuple[str, str, str]]:
    return {(v.code, str(v.place), v.outcome.value) for v in mesh_verdicts(cluster, NOTHING, results)}


def wording(judged: Iterable[Verdict]) -> dict[tuple[str, str], tuple[str, ...]]:
    return {(v.code, str(v.place)): tuple(f.message.en for f in v.findings) for v in judged if v.findings}


@st.composite
def broken(draw: st.DrawFn, smallest: int = 4, rails: int = 1) -> tuple[Cluster, Faults]:
    """A cluster of which less than a third of every rail is at fault, each server on one rail at most."""
    servers = draw(st.integers(smallest, 9))
    cluster = cluster_of(servers, rails)
    numbers = draw(st.permutations(range(1, servers + 1)))
    faults: Faults = {}
    for rail in range(rails):
        most = (servers - 1) // 3 // rails or (1 if rail == 0 else 0)
        for _ in range(draw(st.integers(0 if rail else 1, max(0, most)))):
            kind = draw(st.sampled_from((DEAD, LOSSY, "vlan7", "vlan8")))
            faults[device_place(f"server{numbers[len(faults)]}", rail)] = kind
    return cluster, faults


def hard(faults: Faults) -> Faults:
    return {d: DEAD if kind == LOSSY else kind for d, kind in faults.items()}


@MANY
@given(broken(), st.randoms(use_true_random=False))
def test_1_servers_that_are_called_otherwise_get_the_same_verdicts_otherwise_called(
    case: tuple[Cluster, Faults], rng: object
) -> None:
    cluster, faults = case
    names = [s.name for s in cluster.servers]
    other = list(names)
    rng.shuffle(other)  # type: ignore[attr-defined]
    call = dict(zip(names, other, strict=True))

    def renamed(d: Place) -> Place:
        return device_place(call[d.name], d.device)

    results = probed(cluster, faults)
    want = {(code, _called(call, where), outcome) for code, where, outcome in told(cluster, results)}
    fixed = [
        ProbeResult(probe=probe(cluster, renamed(r.probe.source), renamed(r.probe.target)), sent=3, received=r.received)
        for r in results
    ]
    assert told(cluster, fixed) == want
    assert told(cluster, probed(cluster, {renamed(d): kind for d, kind in faults.items()})) == want


def _called(call: dict[str, str], where: str) -> str:
    server, slash, device = where.partition("/")
    return f"{call.get(server, server)}{slash}{device}"


@MANY
@given(broken())
def test_2_a_sound_server_more_changes_no_verdict(case: tuple[Cluster, Faults]) -> None:
    cluster, faults = case
    larger = cluster_of(len(cluster.servers) + 1)
    new = f"server{len(larger.servers)}/0"
    before, after = told(cluster, probed(cluster, faults)), told(larger, probed(larger, faults))
    assert {v for v in after if v[1] != new} == before
    assert ("NET009", new, "pass") in after


@MANY
@given(broken(), st.data())
def test_3_what_is_mended_is_well_and_what_is_not_stays_blamed(
    case: tuple[Cluster, Faults], data: st.DataObject
) -> None:
    cluster, faults = case
    assert {outcome for _, _, outcome in told(cluster, probed(cluster, {}))} == {"pass"}
    mended = data.draw(st.sampled_from(sorted(faults)))
    left = {d: kind for d, kind in faults.items() if d != mended}
    after = told(cluster, probed(cluster, left))
    assert ("NET009", str(mended), "pass") in after
    assert not any(where == str(mended) and outcome == "fail" for _, where, outcome in after)
    blamed = {where for _, where, outcome in after if outcome == "fail"}
    assert blamed == {str(d) for d in left}


@MANY
@given(broken(), st.sampled_from((DEAD, LOSSY)))
def test_4_a_second_fault_elsewhere_leaves_the_words_about_the_first(case: tuple[Cluster, Faults], kind: str) -> None:
    _, faults = case
    cluster = cluster_of(len(case[0].servers), 2)
    free = next(s.name for s in cluster.servers if device_place(s.name, 0) not in faults)
    second = device_place(free, 1)
    first = wording(mesh_verdicts(cluster, NOTHING, probed(cluster, faults)))
    both = wording(mesh_verdicts(cluster, NOTHING, probed(cluster, {**faults, second: kind})))
    assert {key: words for key, words in both.items() if key[1] != str(second)} == first
    assert ("NET009" if kind == DEAD else "NET010", str(second)) in both


@MANY
@given(broken(), st.data())
def test_5_observations_that_are_lost_make_no_pass(case: tuple[Cluster, Faults], data: st.DataObject) -> None:
    cluster, faults = case[0], hard(case[1])
    results = probed(cluster, faults)
    kept = [r for r in results if data.draw(st.booleans())]
    whole = {where: outcome for code, where, outcome in told(cluster, results) if code == "NET009"}
    for code, where, outcome in told(cluster, kept):
        if code == "NET009" and outcome == "pass":
            assert whole[where] == "pass"


@MANY
@given(broken(), st.integers(2, 4))
def test_6_observations_that_are_made_again_blame_the_same(case: tuple[Cluster, Faults], times: int) -> None:
    cluster, faults = case
    results = probed(cluster, faults)
    assert told(cluster, results * times) >= told(cluster, results) - {
        v for v in told(cluster, results) if v[0] == "NET011"
    }
    once = localise(cluster, NOTHING, results)
    again = localise(cluster, NOTHING, results * times)
    assert {s.places for s in again.suspects} >= {s.places for s in once.suspects}


@MANY
@given(broken(), st.data())
def test_8_a_device_that_loses_more_is_blamed_still(case: tuple[Cluster, Faults], data: st.DataObject) -> None:
    cluster, faults = case
    lossy = data.draw(st.sampled_from(sorted(faults)))
    faults = {**faults, lossy: LOSSY}
    for kind in (LOSSY, DEAD):
        blamed = {w for _, w, outcome in told(cluster, probed(cluster, {**faults, lossy: kind})) if outcome == "fail"}
        assert str(lossy) in blamed


@settings(max_examples=25)
@given(st.integers(12, 24), st.integers(3, 6), st.randoms(use_true_random=False))
def test_9_a_sparse_run_finds_nothing_that_a_full_one_does_not(servers: int, shifts: int, rng: object) -> None:
    cluster = cluster_of(servers)
    ill = rng.sample(list(cluster.devices()), rng.randint(1, servers // 6))  # type: ignore[attr-defined]
    found = []
    for mode in (Mode.SPARSE, Mode.DIRECTED):
        fabric = Fabric(cluster=cluster, leaf_size=64, dead=set(ill[::2]), vlan=dict.fromkeys(ill[1::2], 5))
        found.append(walk(fabric, atlas_a2.PRODUCT, mode=mode, sparse_k=shifts)[0])
    sparse, full = found
    assert failing(sparse) <= failing(full)
    assert failing(full) == {("NET009", str(d)) for d in ill}


@MANY
@given(broken(rails=2))
def test_10_two_networks_in_one_inventory_are_the_sum_of_both(case: tuple[Cluster, Faults]) -> None:
    cluster, faults = case
    results = probed(cluster, faults)
    parts = [[r for r in results if r.probe.source.device == rail] for rail in (0, 1)]
    blamed = [failing(mesh_verdicts(cluster, NOTHING, part)) for part in parts]
    assert failing(mesh_verdicts(cluster, NOTHING, results)) == blamed[0] | blamed[1]


@MANY
@given(broken(rails=2), st.sampled_from((2, 4, 8)))
def test_11_how_many_calls_a_host_makes_at_once_does_not_matter(case: tuple[Cluster, Faults], per_host: int) -> None:
    cluster, faults = case
    one, many = (probed(cluster, faults, per_host=n) for n in (1, per_host))
    assert told(cluster, one) == told(cluster, many)


@MANY
@given(st.integers(0, 2), st.booleans())
def test_12_without_leaves_a_leaf_is_a_list_of_its_devices(number: int, cut: bool) -> None:  # noqa: FBT001  (a case)
    cluster = cluster_of(12)
    fabric = Fabric(cluster=cluster, leaf_size=4)
    (fabric.cut_leaves if cut else fabric.dead_leaves).add(f"leaf{number}r0")
    results = [fabric.answer(p) for probes in schedule(cluster, atlas_a2.PRODUCT).rounds for p in probes]
    with_leaves = mesh_verdicts(cluster, fabric.seen(), results)
    without = mesh_verdicts(cluster, NOTHING, results)
    devices = {f"server{n}/0" for n in range(4 * number + 1, 4 * number + 5)}
    assert failing(with_leaves) == {("NET009", f"leaf{number}r0")}
    assert failing(without) == {("NET009", d) for d in devices}
    assert not any(v.place.kind is PlaceKind.LEAF for v in without)
    others: Callable[[Iterable[Verdict]], set[tuple[str, str]]] = lambda judged: {  # noqa: E731  (used twice, here)
        (str(v.place), v.outcome.value) for v in judged if v.outcome is Outcome.PASS
    }
    assert others(with_leaves) == others(without)
