"""Which way packets are lost, end to end: real pings in a lab, and the counters that the kernel keeps of its ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lab_stage import stage

from rankready.lab import doors
from rankready.lab.spec import Door
from rankready.model.cluster import Topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab_stage import Stage

REASON = doors.refusal(Door.ROOT) and doors.refusal(Door.ROOTLESS)
pytestmark = [pytest.mark.namespaces, pytest.mark.skipif(bool(REASON), reason=f"no namespaces: {REASON}")]
PLACE = "server1/2"


@pytest.fixture(scope="module", params=[Topology.SWITCH, Topology.DIRECT], ids=str)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("ways") / "lab", topology=request.param) as stands:
        yield stands


def suspected(made: Stage, kind: str, **options: str) -> dict[str, Any]:
    """Break one device, and return the one suspect."""
    made.lab.fault(kind, [PLACE], **options)
    try:
        ((code, said),) = made.verbs(("mesh",))
    finally:
        made.lab.heal()
    assert code == 1
    (suspect,) = said["suspects"]
    assert PLACE in suspect["places"]
    return dict(suspect)


@pytest.mark.parametrize(
    ("way", "told", "kind"), [("in", "towards", "one_way_towards"), ("out", "from", "one_way_from")]
)
def test_the_way_is_named(made: Stage, way: str, told: str, kind: str) -> None:
    suspect = suspected(made, "one_way", direction=way)
    found = suspect["direction"]
    assert suspect["places"][0] == PLACE
    assert found["way"] == told, found
    assert suspect["kind"] == (kind if len(suspect["places"]) == 1 else "fibre")


def test_a_port_that_loses_both_ways_is_given_no_way(made: Stage) -> None:
    suspect = suspected(made, "packet_loss", percent="40")
    assert suspect["direction"]["way"] in ("both", "unknown"), suspect
    assert suspect["kind"] == ("loss" if len(suspect["places"]) == 1 else "fibre")
