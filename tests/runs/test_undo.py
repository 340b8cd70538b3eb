"""Undoing: what stood before, bit for bit; what nothing can take away is said; others' changes are kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from sim_fleet import set_by_hand, sim_fleet

from rankready import catalog
from rankready.model.errors import ConfigError
from rankready.model.text import Lang
from rankready.runs.apply import apply
from rankready.runs.journal import entries, finished, unfinished
from rankready.runs.plan import draw
from rankready.runs.undo import journal_of, undo

if TYPE_CHECKING:
    from pathlib import Path

    from sim_fleet import SimFleet

    from rankready.model.record import Record

OLD = {"server1/0": ("10.20.0.7/24", "10.20.0.254", "10.20.0.1"), "server1/1": ("10.20.0.8/24", "", "")}
NEW = {"server1_0": "10.20.0.1/24", "server1_1": "10.20.0.2/24"}


async def applied(fleet: SimFleet) -> Record:
    site = fleet.site()
    record = await apply(site, await draw(site))
    assert record.exit == 0, record.extra
    return record


async def put_back(fleet: SimFleet, **how: object) -> Record:
    site = fleet.site()
    return await undo(site, journal_of(site.home, None), **how)  # type: ignore[arg-type]


def old_site(root: Path) -> SimFleet:
    fleet = sim_fleet(root, (2,)).planned(**NEW)
    set_by_hand(fleet, OLD)
    return fleet


async def test_the_state_before_comes_back_bit_for_bit_and_again_without_a_change(tmp_path: Path) -> None:
    fleet = old_site(tmp_path)
    before = fleet.state()
    await applied(fleet)
    assert fleet.state() != before
    record = await put_back(fleet)
    assert (record.exit, record.extra["restored"], record.extra["not_restored"]) == (0, ["server1"], {})
    assert fleet.state() == before
    sent = len(fleet.sets("server1"))
    assert (await put_back(fleet)).exit == 0
    assert len(fleet.sets("server1")) == sent
    assert unfinished(fleet.site().home) is None


async def test_a_gateway_where_none_was_goes_by_a_step_aside(tmp_path: Path) -> None:
    fleet = old_site(tmp_path)
    await applied(fleet)
    await put_back(fleet)
    calls = fleet.sets("server1")
    assert "-i 1 -ip -s address 172.31.255.5 netmask 255.255.255.252" in calls
    assert calls[-1] == "-i 1 -ip -s address 10.20.0.8 netmask 255.255.255.0"


async def test_what_the_tool_cannot_take_away_is_said_and_the_file_is_as_before(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    await applied(fleet)
    record = await put_back(fleet)
    assert record.exit == 1
    words = "device [0-1]: still the new address and gateway until its next reset; none stood there before"
    told = {name: [t.en for t in texts] for name, texts in record.extra["not_restored"].items()}
    assert told == {"server1": [words], "server2": [words]}
    state = fleet.state()
    assert (state["server1 conf"], state["server2 conf"]) == ("", "")
    assert state["server1/0"] == "ADDR=10.20.0.1 GW=10.20.0.254 MASK=255.255.255.0NETDETECT=0.0.0.0"
    drawn = catalog.module("reports", "text").REPORT.draw(record, Lang.EN, 100)
    assert "server[1-2]: device [0-1]: still the new address and gateway" in " ".join(drawn.split())


async def test_what_others_wrote_into_the_file_meanwhile_is_kept(tmp_path: Path) -> None:
    fleet = old_site(tmp_path)
    await applied(fleet)
    conf = fleet.benches["server1"].conf
    conf.write_text(conf.read_text() + "tls_enable_0=1\n")
    assert (await put_back(fleet)).exit == 0
    assert "tls_enable_0=1\n" in conf.read_text()
    assert "address_0=10.20.0.7\n" in conf.read_text()
    assert "10.20.0.1\n" not in conf.read_text().replace("netdetect_0=10.20.0.1\n", "")


async def test_a_dry_run_tells_the_commands_and_sends_none(tmp_path: Path) -> None:
    fleet = old_site(tmp_path)
    await applied(fleet)
    sent = len(fleet.sets("server1"))
    record = await put_back(fleet, dry_run=True)
    assert record.exit == 1
    assert record.extra["commands"]["server1"][0] == "hccn_tool -i 0 -ip -s address 10.20.0.7 netmask 255.255.255.0"
    assert len(fleet.sets("server1")) == sent


async def test_a_device_with_a_job_is_left_alone_until_it_is_named(tmp_path: Path) -> None:
    fleet = old_site(tmp_path)
    before = fleet.state()
    await applied(fleet)
    for device in (0, 1):
        fleet.benches["server1"].state(device, OWNER="77:python")
    record = await put_back(fleet)
    assert (record.exit, list(record.extra["held"])) == (1, ["server1/0", "server1/1"])
    assert fleet.state() != before
    assert (await put_back(fleet, force=frozenset({"server1/0", "server1/1"}))).exit == 0
    assert fleet.state() == before


async def test_a_server_that_is_not_reached_leaves_it_incomplete_and_open(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path).planned(server1_0="10.20.0.1/24", server1_1="10.20.0.2/24")
    given = {
        f"server{s}/{d}": (f"10.20.0.{40 + 2 * s + d}/24", "10.20.0.254", "10.20.0.254") for s in (1, 2) for d in (0, 1)
    }
    set_by_hand(fleet, given)
    fleet = fleet.planned(**{f"server{s}_{d}": f"10.20.0.{10 * s + d}/24" for s in (1, 2) for d in (0, 1)})
    before = fleet.state()
    path = (await applied(fleet)).extra["journal"]
    fleet.sessions["server2"].lose_after(b"rankready")
    record = await put_back(fleet)
    assert (record.exit, record.extra["restored"]) == (3, ["server1"])
    assert record.extra["not_restored"]["server2"][0].en.startswith("not reached: ")
    assert [e["kind"] for e in entries(tmp_path / ".rankready/journal" / path.rpartition("/")[2])][-1] == "end"
    fleet.sessions["server2"].lose_after(b"")
    assert (await put_back(fleet)).exit == 0
    assert fleet.state() == before


async def test_an_exchange_is_undone_as_an_exchange(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (2,)).planned(server1_0="10.20.0.8/24", server1_1="10.20.0.7/24")
    set_by_hand(fleet, {k: (a, "10.20.0.254", "10.20.0.254") for k, (a, _, _) in OLD.items()})
    before = fleet.state()
    await applied(fleet)
    assert fleet.state()["server1/0"].startswith("ADDR=10.20.0.8 ")
    assert (await put_back(fleet)).exit == 0
    assert fleet.state() == before


async def test_a_journal_of_other_servers_is_refused(tmp_path: Path) -> None:
    fleet = old_site(tmp_path)
    await applied(fleet)
    site = fleet.site()
    others = replace(fleet.cluster, servers=tuple(replace(s, name="other") for s in fleet.cluster.servers))
    with pytest.raises(ConfigError, match="server1; expected servers of lab"):
        await undo(replace(site, cluster=others), journal_of(site.home, None))
    with pytest.raises(ConfigError, match="a journal that apply wrote"):
        journal_of(tmp_path / "nowhere", None)
    assert finished(entries(journal_of(site.home, None)))
