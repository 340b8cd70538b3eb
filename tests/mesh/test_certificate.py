"""A certificate holds by itself, and no change of it goes unseen."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from healthy_cluster import make_cluster

from rankready.mesh.certificate import _digest, certificate, faults
from rankready.mesh.ledger import Ledger
from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.schedule import schedule
from rankready.model.cluster import Generation, Topology
from rankready.model.place import device_place
from rankready.model.snapshot import Gap
from rankready.products import atlas_a1

BEGAN, ENDED = "2026-03-02T08:00:00+00:00", "2026-03-02T08:10:00+00:00"


def ledger(mode: Mode | None, servers: int = 5, topology: Topology = Topology.SWITCH, *, whole: bool = True) -> Ledger:
    """Results of a run: all well, or some lost, some partly, some not made, one answered the second time."""
    plan = schedule(make_cluster(servers, Generation.A1, topology), atlas_a1.PRODUCT, mode=mode, sparse_k=2)
    made = Ledger(plan)
    rng = random.Random(1)  # noqa: S311  (reproducible)
    for probes in plan.rounds[: len(plan.steps)]:
        for call in probes:
            got = 3 if whole else rng.choice((3, 3, 3, 0, 1, None))
            made.add(
                ProbeResult(probe=call, gap=Gap("busy"))
                if got is None
                else ProbeResult(probe=call, sent=3, received=got)
            )
            if not whole and rng.random() < 0.1:
                made.add(ProbeResult(probe=call, sent=3, received=3))
    return made


def told(made: Ledger) -> dict[str, Any]:
    """A certificate as it comes back from a file."""
    said: dict[str, Any] = json.loads(json.dumps(certificate(made, began=BEGAN, ended=ENDED)))
    return said


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("servers", [2, 5, 8])
def test_it_holds(mode: Mode, servers: int, whole: bool) -> None:  # noqa: FBT001  (pytest passes it by name)
    assert faults(told(ledger(mode, servers, whole=whole))) == ()


def test_it_holds_for_fibres_and_unequal_rails() -> None:
    assert faults(told(ledger(None, 4, Topology.DIRECT))) == ()
    assert faults(told(ledger(Mode.DIRECTED, 3, Topology.DIRECT, whole=False))) == ()


def test_complete_is_said_of_a_whole_proof_alone() -> None:
    assert told(ledger(Mode.DIRECTED))["complete"] is True
    assert told(ledger(Mode.ROUND_TRIP))["complete"] is True
    assert told(ledger(Mode.SPARSE, 8))["complete"] is False
    assert told(ledger(Mode.DIRECTED, whole=False))["complete"] is False
    one_short = ledger(Mode.DIRECTED)
    one_short.blocks[0].passed[0] &= one_short.blocks[0].passed[0] - 1
    one_short.give_up(device_place("server1", 0), Gap("link is down"))
    said = told(one_short)
    assert (said["complete"], said["not_measured"]) == (False, {"link is down": 1})
    assert faults(said) == ()


def sealed(said: dict[str, Any]) -> dict[str, Any]:
    """The same with its digests made to fit: a forger can do that much."""
    said["results_digest"] = _digest(said["results"])
    said["plan_digest"] = _digest([said[k] for k in ("mode", "sparse_k", "per_host", "leaf", "groups")])
    said.pop("digest")
    return {**said, "digest": _digest(said)}


LIES: dict[str, dict[str, Any]] = {
    "complete though it is not": {"complete": True},
    "more proven": {"proven": 9999},
    "nothing failed": {"failed": 0},
    "fewer planned": {"planned": 1},
    "another limit": {"per_host": 4},
    "no reasons": {"not_measured": {}},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_seen_with_digests_that_fit(lie: str) -> None:
    said = told(ledger(Mode.DIRECTED, whole=False))
    assert faults(sealed({**said, **LIES[lie]}))


def test_a_sparse_run_can_not_pose_as_a_proof() -> None:
    said = told(ledger(Mode.SPARSE, 8))
    assert faults(sealed({**said, "complete": True}))
    assert faults(sealed({**said, "mode": "directed"}))


def test_an_answer_to_a_call_that_nobody_planned_is_seen() -> None:
    made = ledger(Mode.ROUND_TRIP, 5)
    made.blocks[2].passed[1] |= 1 << 1
    assert "was not planned" in faults(told(made))[0]


@pytest.mark.parametrize("key", sorted(told(ledger(Mode.DIRECTED, 3))))
def test_any_change_without_the_digests_is_seen(key: str) -> None:
    said = told(ledger(Mode.DIRECTED, 3))
    assert faults({**said, key: "x"})
    assert faults({k: v for k, v in said.items() if k != key})


@pytest.mark.parametrize("damage", [{}, {"version": 1}, {"version": 1, "mode": "directed"}, {"version": None}])
def test_what_is_no_certificate_is_no_crash(damage: dict[str, Any]) -> None:
    assert faults(damage)
