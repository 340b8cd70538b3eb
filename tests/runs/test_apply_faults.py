"""What the lab does to a device's tool is told by exactly the codes that each fault declares; `apply` sees its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from fault_places import SLOW, TOOL
from lab_up import needs_namespaces, stand

from rankready.config.read import read
from rankready.model.finding import Outcome
from rankready.runs.apply import apply
from rankready.runs.check import check
from rankready.runs.fleet import Fleet
from rankready.runs.mesh import mesh
from rankready.runs.plan import draw
from rankready.runs.site import Site
from rankready.transports.ssh import make

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from rankready.lab.engine import Lab
    from rankready.model.record import Record

pytestmark = pytest.mark.namespaces

ROOTS = (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    needs_namespaces()
    lab = stand(tmp_path_factory.mktemp("lab") / "a1", servers=2)
    assert run(lab, applied).exit == 0
    yield lab
    lab.down()


def run(lab: Lab, work: Callable[[Site], Awaitable[Record]]) -> Record:
    return asyncio.run(whole(lab, work))


async def whole(lab: Lab, work: Callable[[Site], Awaitable[Record]]) -> Record:
    cluster = read(lab.directory / "cluster.yaml")
    fleet = Fleet(cluster, make())
    try:
        return await work(Site(cluster=cluster, fleet=fleet, home=lab.directory / ".rankready", say=lambda _text: None))
    finally:
        await fleet.close()


async def applied(site: Site) -> Record:
    return await apply(site, await draw(site))


def roots(record: Record) -> set[tuple[str, str, str]]:
    return {(v.code, str(v.place), v.outcome.value) for v in record.verdicts if v.outcome in ROOTS}


@pytest.mark.parametrize(("kind", "place"), TOOL.items())
def test_check_tells_exactly_what_the_fault_causes(lab: Lab, kind: str, place: str) -> None:
    told = lab.fault(kind, [place])
    try:
        exactly(told, "check", run(lab, check))
    finally:
        assert lab.heal()["left"] == []


def exactly(told: dict[str, Any], verb: str, record: Record) -> None:
    """What the fault must show is shown, and beyond it only what it may."""
    causes = [c for c in told["causes"] if c["verb"] == verb]
    must = {(c["code"], c["place"], c["outcome"]) for c in causes if not c["optional"]}
    may = {(c["code"], c["place"], c["outcome"]) for c in causes if c["optional"]}
    found = roots(record)
    assert must <= found, f"{verb} must show {must - found}"
    assert found <= must | may, f"{verb} must not show {found - must - may}"


@pytest.mark.parametrize(("kind", "place"), SLOW.items())
def test_a_device_that_no_call_reaches_is_unknown_alone(lab: Lab, kind: str, place: str) -> None:
    async def both() -> tuple[Record, Record]:
        return await asyncio.gather(whole(lab, check), whole(lab, mesh))

    told = lab.fault(kind, [place])
    try:
        looked, probed = asyncio.run(both())
        exactly(told, "check", looked)
        exactly(told, "mesh", probed)
        assert (looked.exit, probed.exit) == (3, 3)
        assert probed.extra["coverage"]["unmeasured"] == 1
    finally:
        assert lab.heal()["left"] == []
    assert roots(run(lab, check)) == set()


def test_a_file_that_cannot_be_written_is_told_by_apply_in_the_code_that_the_fault_declares(lab: Lab) -> None:
    file = lab.directory / "cluster.yaml"
    told = lab.fault("conf_readonly", ["server1/2"])
    try:
        file.write_text(file.read_text().replace("pool: 10.20.0.0/16", "pool: 10.60.0.0/16"))
        record = run(lab, applied)
        (cause,) = told["causes"]
        assert roots(record) == {(cause["code"], cause["place"], cause["outcome"])}
        assert record.extra["not_reached_by_wave"] == ["server2"]
    finally:
        lab.heal()
    assert run(lab, applied).exit == 0
