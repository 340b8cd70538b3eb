"""One segment for all positions of A1: applied and judged in AMP mode, not set where a server is not in it."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest
from sim_fleet import sim_fleet

from rankready.model.addressing import Segment
from rankready.model.cluster import Generation
from rankready.model.finding import Outcome
from rankready.model.observed.chips import NpuWorkMode
from rankready.runs.apply import apply
from rankready.runs.cabling import cabling
from rankready.runs.check import check
from rankready.runs.mesh import mesh
from rankready.runs.plan import draw

if TYPE_CHECKING:
    from pathlib import Path

    from sim_fleet import SimFleet

ONE = Segment(network=ip_network("10.20.0.0/24"), positions=tuple(range(8)))


def fleet_in(root: Path, *modes: str, generation: Generation = Generation.A1) -> SimFleet:
    """Servers of two devices in one written segment, each in its mode."""
    fleet = sim_fleet(root, (2,) * len(modes), generation=generation).with_plane(segments=(ONE,))
    for bench, mode in zip(fleet.benches.values(), modes, strict=True):
        profile = bench.run_folder / "profile"
        profile.write_text(f'{profile.read_text()}LAB_WORKMODE="{mode}"\n')
    return fleet


async def test_all_in_amp_mode_it_is_applied_and_judged(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP", "AMP")
    site = fleet.site()
    record = await apply(site, await draw(site))
    assert (record.exit, record.extra["applied"]) == (0, ["server1", "server2"])
    assert fleet.sets("server2")[0] == "-i 0 -ip -s address 10.20.0.3 netmask 255.255.255.0"
    looked = await check(fleet.site(), only=("NET002", "NET004"))
    assert {v.outcome for v in looked.verdicts} == {Outcome.PASS}
    assert (await cabling(fleet.site())).verdicts


@pytest.mark.parametrize(
    ("mode", "words", "outcome"),
    [("SMP", "server2 in SMP mode", Outcome.FAIL), ("XMP", "server2 work mode not known: ", Outcome.UNKNOWN)],
)
async def test_one_server_not_known_to_be_in_amp_mode_is_named_and_nothing_is_set(
    mode: str, words: str, outcome: Outcome, tmp_path: Path
) -> None:
    fleet = fleet_in(tmp_path, "AMP", mode)
    site = fleet.site()
    drawn = await draw(site)
    (problem,) = drawn.plan.problems
    assert problem.rule == "positions_share_segment"
    assert words in problem.message
    assert (await apply(site, drawn)).exit == 1
    assert fleet.sets("server1") == fleet.sets("server2") == []
    record = await check(fleet.site(), only=("HST020", "NET002"))
    found = {(v.code, str(v.place)): v.outcome for v in record.verdicts}
    assert (found["HST020", "server1"], found["HST020", "server2"]) == (Outcome.PASS, outcome)
    assert found["NET002", "server1/0"] is Outcome.FAIL  # blank, and judged all the same
    assert (await cabling(fleet.site())).verdicts


async def test_a_dead_server_is_unknown_alone_and_the_rest_is_judged_and_set(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP", "AMP", "AMP")
    fleet.sessions["server2"].lost()
    site = fleet.site()
    drawn = await draw(site)
    assert drawn.plan.problems == ()
    assert {place.name for place, _ in drawn.plan.unread} == {"server2"}
    assert {change.place.name for change in drawn.plan.changes} == {"server1", "server3"}
    record = await apply(site, drawn)
    assert (record.exit, record.extra["applied"]) == (3, ["server1", "server3"])
    assert fleet.sets("server2") == []
    for verb in (check, cabling):
        told = {(v.code, v.place.name): v.outcome for v in (await verb(fleet.site())).verdicts if v.code == "HST001"}
        assert told == {
            ("HST001", "server1"): Outcome.PASS,
            ("HST001", "server2"): Outcome.UNKNOWN,
            ("HST001", "server3"): Outcome.PASS,
        }
    looked = await check(fleet.site(), only=("HST020", "NET002", "NET004"))
    assert looked.exit == 3
    assert {v.place.name: v.outcome for v in looked.verdicts} == {
        "server1": Outcome.PASS,
        "server2": Outcome.UNKNOWN,
        "server3": Outcome.PASS,
    }


async def test_with_every_server_dead_nothing_is_judged_and_nothing_is_refused(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP")
    fleet.sessions["server1"].lost()
    assert (await draw(fleet.site())).plan.problems == ()
    record = await check(fleet.site(), only=("HST020", "NET002"))
    assert {v.outcome for v in record.verdicts} == {Outcome.UNKNOWN}


async def test_the_mesh_goes_on_around_a_dead_server(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP", "AMP", "AMP")
    site = fleet.site()
    assert (await apply(site, await draw(site))).exit == 0
    fleet.sessions["server2"].lost()
    record = await mesh(fleet.site())
    failed = {v.code for v in record.verdicts if v.outcome is Outcome.FAIL}
    assert failed == {"CAB001"}  # nobody speaks LLDP here
    told = record.extra["coverage"]
    assert (told["planned"], told["proven"], told["unmeasured"], told["failed"]) == (12, 8, 4, 0)
    assert {v.place.name for v in record.verdicts if v.code == "HST001" and v.outcome is Outcome.UNKNOWN} == {"server2"}


async def test_one_segment_without_positions_serves_all_in_amp_mode(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP", "AMP").with_plane(segments=(replace(ONE, positions=()),))
    site = fleet.site()
    assert (await apply(site, await draw(site))).exit == 0
    assert fleet.sets("server2")[0] == "-i 0 -ip -s address 10.20.0.3 netmask 255.255.255.0"
    record = await check(fleet.site(), only=("HST020", "NET002", "NET004"))
    assert {v.outcome for v in record.verdicts} == {Outcome.PASS}


async def test_a_plan_that_is_legal_in_both_modes_asks_for_none(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "SMP", "XMP").with_plane(segments=(), pool=ip_network("10.30.0.0/16"))
    drawn = await draw(fleet.site())
    assert drawn.plan.problems == ()
    assert NpuWorkMode not in {kind for _, kind in drawn.snapshot.facts}
    record = await check(fleet.site(), only=("HST020",))
    assert {(v.outcome, v.reason) for v in record.verdicts} == {
        (Outcome.SKIP, "not asked: the plan does not depend on the work mode")
    }
    assert record.exit == 0


async def test_other_generations_are_not_asked(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP", "SMP", generation=Generation.A2)
    drawn = await draw(fleet.site())
    assert drawn.plan.problems == ()
    assert NpuWorkMode not in {kind for _, kind in drawn.snapshot.facts}
