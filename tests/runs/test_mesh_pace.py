"""The pace against tools that really run side by side: some refuse two calls at once, all devices or a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fake_fleet import FolderTransport
from server_farm import planned_cluster

from rankready.mesh.coverage import coverage
from rankready.mesh.schedule import schedule
from rankready.model.snapshot import Seen, Snapshot
from rankready.products import atlas_a1
from rankready.runs.fleet import Fleet
from rankready.runs.mesh_log import Log
from rankready.runs.mesh_pace import CALLS, LEVELS, Pace
from rankready.runs.mesh_walk import Walk
from rankready.runs.site import Site

if TYPE_CHECKING:
    from pathlib import Path

TOOL = """#!/bin/sh
# one call holds the lock of its group for a moment; who comes in between is told that the tool is busy (facts/hccn 2.2)
group=%s
if ! mkdir "$HOME/$group" 2>/dev/null; then
  echo busy >>"$HOME/refused"
  echo 'hccn_tool is busy, please try again.'
  exit 11
fi
ls -d "$HOME"/group* | wc -l >>"$HOME/at_once"
sleep 0.03
rmdir "$HOME/$group"
echo "device $2 PING $6"
for n in 0 1 2; do echo "recv seq=$n,time=0.031000ms"; done
echo '3 packets transmitted, 3 received, 0.00%% packet loss'
"""
WHOLE_HOST, OWN_GROUP = "group0", "group$(($2 / 4))"


async def walked(root: Path, group: str, *, auto: bool) -> tuple[Walk, Path]:
    """Probe a cluster of six whose tools refuse as told; return the walk and the folder of one server."""
    tool = root / "bin" / "hccn_tool"
    tool.parent.mkdir()
    tool.write_text(TOOL % group)
    tool.chmod(0o755)
    cluster = planned_cluster(6)
    transport = FolderTransport(root / "servers", env={"PATH": f"{tool.parent}:/usr/bin:/bin"})
    site = Site(cluster=cluster, fleet=Fleet(cluster, transport), home=root / "home", say=lambda _: None)
    plan = schedule(cluster, atlas_a1.PRODUCT)
    log = Log(site.home, plan, resume=False)
    highest = LEVELS[-1] if auto else 2
    walk = Walk(site, Seen(Snapshot()), log, lambda _: Pace(atlas_a1.PRODUCT.rings, highest=highest, fixed=not auto))
    await walk.make({s.name: plan.calls(s.name) for s in cluster.servers[:1]})
    log.close(done=False)
    return walk, root / "servers" / "server1"


def lines(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


async def test_a_host_that_refuses_two_at_once_is_asked_one_by_one_again(tmp_path: Path) -> None:
    walk, home = await walked(tmp_path, WHOLE_HOST, auto=True)
    pace = walk.of["server1"].pace
    assert lines(home / "refused"), "two at once were tried"
    assert len(lines(home / "at_once")) == 8 * 5
    assert (pace.busy, pace.lanes, pace.best) == (True, 1, 1)
    assert coverage(walk.ledger.plan, walk.ledger).proven == 8 * 5, "busy is no failed probe"


async def test_groups_that_take_a_call_each_are_found_to_do_so(tmp_path: Path) -> None:
    walk, home = await walked(tmp_path, OWN_GROUP, auto=True)
    pace = walk.of["server1"].pace
    assert not lines(home / "refused")
    at_once = lines(home / "at_once")
    assert set(at_once[:CALLS]) == {"1"}, "one at a time, until that was seen to go well"
    assert "2" in at_once[CALLS:]
    assert (pace.busy, pace.lanes) == (False, 2)


async def test_a_number_that_someone_answers_for_falls_back_too(tmp_path: Path) -> None:
    walk, home = await walked(tmp_path, WHOLE_HOST, auto=False)
    assert lines(home / "refused")
    assert walk.of["server1"].pace.lanes == 1
    assert coverage(walk.ledger.plan, walk.ledger).proven == 8 * 5
