"""A device that left the server is missed: by number where the table tells physical ids, else by count."""

from __future__ import annotations

from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest
from sim_fleet import sim_fleet

from rankready.model.cluster import Generation
from rankready.runs.check import check

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("generation", "lost", "expect"),
    [
        (Generation.A1, None, {"server1": "pass"}),
        (Generation.A1, 2, {"server1": "fail"}),
        (Generation.A2, 2, {"server1": "fail"}),
        (Generation.A3, None, {"server1": "pass"}),
        (Generation.A3, 3, {"server1": "pass", "server1/3": "fail"}),
        (Generation.A3, 2, {"server1": "unknown"}),  # an NPU without its first die: the table makes no sense
    ],
)
async def test_a_lost_device_is_missed(
    tmp_path: Path, generation: Generation, lost: int | None, expect: dict[str, str]
) -> None:
    fleet = sim_fleet(tmp_path, (4,), generation=generation)
    bench = fleet.benches["server1"]
    (bench.root / "dev").mkdir()
    for device in range(4):
        (bench.root / "dev" / f"davinci{device}").touch()
    if lost is not None:
        bench.state(lost, ABSENT=1)
    record = await check(fleet.with_plane(segments=(), pool=ip_network("10.20.0.0/16")).site(), only=("HST002",))
    assert {str(v.place): v.outcome.value for v in record.verdicts} == expect
    if expect["server1"] == "fail":
        (finding,) = record.verdicts[0].findings
        assert finding.message.en == "3 of 4 devices are listed, planned 4"
        assert [e.command for e in finding.evidence] == ["npu-smi info", "ls /dev/davinci*"]
