"""One segment for all positions of A1: applied and judged in AMP mode, refused where a server is not known to be."""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest
from sim_fleet import sim_fleet

from rankready.model.addressing import Segment
from rankready.model.cluster import Generation
from rankready.model.errors import PlanError
from rankready.model.finding import Outcome
from rankready.model.observed.chips import NpuWorkMode
from rankready.runs.apply import apply
from rankready.runs.cabling import cabling
from rankready.runs.check import check
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


@pytest.mark.parametrize(("mode", "words"), [("SMP", "server2 in SMP mode"), ("XMP", "server2 work mode not known: ")])
async def test_one_server_not_known_to_be_in_amp_mode_is_named_and_nothing_is_set(
    mode: str, words: str, tmp_path: Path
) -> None:
    fleet = fleet_in(tmp_path, "AMP", mode)
    site = fleet.site()
    drawn = await draw(site)
    (problem,) = drawn.plan.problems
    assert problem.rule == "positions_share_segment"
    assert words in problem.message
    assert (await apply(site, drawn)).exit == 1
    assert fleet.sets("server1") == fleet.sets("server2") == []
    for verb in (check, cabling):
        with pytest.raises(PlanError, match=words):
            await verb(fleet.site())


async def test_other_generations_are_not_asked(tmp_path: Path) -> None:
    fleet = fleet_in(tmp_path, "AMP", "SMP", generation=Generation.A2)
    drawn = await draw(fleet.site())
    assert drawn.plan.problems == ()
    assert NpuWorkMode not in {kind for _, kind in drawn.snapshot.facts}
