"""Applying: refused where it must be, in order, read back, told in words; nothing sent that was not journalled."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

import pytest
from sim_fleet import plain_json, set_by_hand, sim_fleet

from rankready import catalog
from rankready.model.cluster import Generation, NetDetectPolicy
from rankready.model.errors import ConfigError, RankreadyError, StalePlan
from rankready.model.finding import Outcome
from rankready.model.text import Lang, Text
from rankready.runs.apply import How, apply, settle
from rankready.runs.check import check
from rankready.runs.intent import NO_TARGET
from rankready.runs.journal import changed, entries, latest, unfinished
from rankready.runs.plan import draw, record_of
from rankready.runs.saved import load, save
from rankready.runs.stale import against, meant_by_unfinished, refuse_other_intent
from rankready.runs.undo import journal_of, undo

if TYPE_CHECKING:
    from pathlib import Path

    from sim_fleet import SimFleet

    from rankready.model.record import Record

NETWORK6 = ip_network("fd00:20::/64")
BUSY = "echo 'hccn_tool is busy, please try again.'; exit 11\n"


async def applied(fleet: SimFleet, **how: object) -> Record:
    site = fleet.site()
    return await apply(site, await draw(site), How(**how))  # type: ignore[arg-type]


def text(record: Record) -> str:
    found: str = catalog.module("reports", "text").REPORT.draw(record, Lang.EN, 100)
    return " ".join(found.split())


async def test_blank_servers_get_address_gateway_target_in_that_order_and_a_second_run_does_nothing(
    tmp_path: Path,
) -> None:
    fleet = sim_fleet(tmp_path)
    first = await applied(fleet)
    assert (first.exit, first.extra["applied"]) == (0, ["server1", "server2"])
    assert fleet.sets("server1") == [
        "-i 0 -ip -s address 10.20.0.1 netmask 255.255.255.0",
        "-i 0 -gateway -s gateway 10.20.0.254",
        "-i 0 -netdetect -s address 10.20.0.254",
        "-i 1 -ip -s address 10.20.0.2 netmask 255.255.255.0",
        "-i 1 -gateway -s gateway 10.20.0.254",
        "-i 1 -netdetect -s address 10.20.0.254",
    ]
    again = await applied(fleet)
    assert (again.exit, len(fleet.sets("server1"))) == (0, 6)
    assert not (tmp_path / "server1/root/run/rankready/lock").exists()


async def test_what_was_sent_stood_in_the_journal_first(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    journal = tmp_path / ".rankready/journal"
    for server in ("server1", "server2"):
        fleet.spy(server).with_name(f"{server}.sets.1").write_text(
            f"cat {journal}/*.jsonl >{tmp_path}/{server}.journalled\n"
        )
    await applied(fleet)
    for server in ("server1", "server2"):
        (tmp_path / "then").write_text((tmp_path / f"{server}.journalled").read_text())
        found = entries(tmp_path / "then")
        assert len(changed(found)[server]) == 6
        assert [e["conf"] for e in found if e["kind"] == "before" and e["server"] == server] == [""]


async def test_a_device_with_a_job_is_refused_and_nothing_is_changed_until_it_is_named(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, generation=Generation.A3).with_plane(segments=(), pool=ip_network("10.20.0.0/16"))
    fleet.benches["server1"].state(1, OWNER="4711:python3")
    refused = await applied(fleet)
    assert refused.exit == 1
    assert list(refused.extra["held"]) == ["server1/1"]
    assert fleet.sets("server1") == fleet.sets("server2") == []
    assert "server1/1: a job holds its network; process 4711 python3" in text(refused)
    held = plain_json(refused)["held"]
    assert isinstance(held, dict)
    assert held["server1/1"][0] == {"en": "a job holds its network", "zh": "有任务占用其网络"}
    with pytest.raises(ConfigError, match="server1/7: no such device"):
        await applied(fleet, force=frozenset({"server1/7"}))
    forced = await applied(fleet, force=frozenset({"server1/1"}))
    assert forced.exit == 0, forced.extra


async def test_where_the_table_tells_no_physical_ids_a_process_counts_for_the_whole_server(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, generation=Generation.A2)
    fleet.benches["server2"].state(0, OWNER="4711:python3")
    refused = await applied(fleet)
    assert list(refused.extra["held"]) == ["server2/0", "server2/1"]


async def test_a_busy_tool_is_asked_again(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    fleet.spy("server1").with_name("server1.sets.1").write_text(BUSY)
    record = await applied(fleet)
    assert record.exit == 0
    assert fleet.sets("server1")[:2] == ["-i 0 -ip -s address 10.20.0.1 netmask 255.255.255.0"] * 2


async def test_a_canary_that_is_denied_stops_the_rest(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    for device in (0, 1):
        fleet.benches["server1"].state(device, DENY=1)
    record = await applied(fleet)
    assert (record.exit, record.extra["applied"]) == (1, [])
    assert record.extra["not_reached_by_wave"] == ["server2"]
    (words,) = record.extra["not_accepted"]["server1"]
    where = "server1/[0-1] address, server1/[0-1] gateway, server1/[0-1] netdetect"
    assert words.en.startswith(f"{where}: permission denied: the tool wants")
    assert words.zh.startswith(f"{where}：权限不足")
    assert fleet.sets("server2") == []
    assert "stopped: more servers failed than allowed; untouched: server2" in text(record)
    assert "rankready apply --continue" in text(record)


async def test_one_failing_server_does_not_keep_the_others_where_that_is_allowed(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    fleet.benches["server1"].state(1, DENY=1)
    record = await applied(fleet, max_fail=0.5)
    assert (record.exit, record.extra["applied"]) == (1, ["server2"])
    assert list(record.extra["not_accepted"]) == ["server1"]
    assert record.extra["changed"] == 9
    assert latest(fleet.site().home, "apply") == unfinished(fleet.site().home)


async def test_a_file_that_cannot_be_written_is_a_finding_of_its_own(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (2,))
    fleet.benches["server1"].state(1, CONF="readonly")
    record = await applied(fleet)
    assert record.exit == 1
    assert record.extra["conf_not_written"] == ["server1/1"]
    assert record.extra["not_accepted"] == {}
    (verdict,) = record.verdicts
    (finding,) = verdict.findings
    assert (verdict.code, str(verdict.place)) == ("NET006", "server1/1")
    assert finding.message.en == (
        "the device has address 10.20.0.2/24, gateway 10.20.0.254, netdetect 10.20.0.254, "
        "/etc/hccn.conf was not written: lost at its next reset"
    )
    assert len(finding.evidence) == 3
    assert "make /etc/hccn.conf writable there" in text(record)
    fleet.benches["server1"].state(1, CONF="writable")
    mended = await applied(fleet)
    assert (mended.exit, mended.extra["continued"]) == (0, True)
    assert "gateway_1=10.20.0.254\n" in fleet.benches["server1"].conf.read_text()


async def test_what_is_accepted_but_not_read_back_is_told(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    liar = "echo 'Cmd executed successfully!'; exit 0\n"
    fleet.spy("server1").with_name("server1.sets.3").write_text(liar)
    record = await applied(fleet)
    assert record.exit == 1
    assert record.extra["not_accepted"]["server1"] == [
        Text(
            "server1/0 netdetect: accepted, but the device reads back nothing, planned 10.20.0.254",
            "server1/0 netdetect：工具已接受，但设备回读为 空，规划为 10.20.0.254",
        )
    ]


async def test_a_connection_lost_after_the_sets_is_not_taken_for_success_and_is_finished_later(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    fleet.sessions["server1"].lose_after(b"-netdetect -s")
    record = await applied(fleet)
    assert (record.exit, record.extra["applied"]) == (1, [])
    assert "connection lost" in record.extra["not_accepted"]["server1"][0].en
    fleet.sessions["server1"].lose_after(b"")
    site = fleet.site()
    meant = meant_by_unfinished(site.home)
    drawn = await draw(site, meant)
    refuse_other_intent(drawn, meant)
    assert {c.place.name for c in drawn.plan.changes} == {"server2"}
    finished = await apply(site, drawn)
    assert (finished.exit, finished.extra["continued"], finished.extra["applied"]) == (0, True, ["server2"])
    with pytest.raises(ConfigError, match="--continue: none"):
        meant_by_unfinished(site.home)


async def test_only_an_unfinished_apply_is_settled_and_a_dry_run_takes_no_lock(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    gate = fleet.benches["server1"].root / "run/rankready/gate"
    await settle(fleet.site())
    assert not gate.exists()
    fleet.sessions["server1"].lose_after(b"-netdetect -s")
    assert (await applied(fleet)).exit == 1
    fleet.sessions["server1"].lose_after(b"")
    gate.unlink()
    await settle(fleet.site(), dry_run=True)
    assert not gate.exists()
    await settle(fleet.site())
    assert gate.exists()
    assert not gate.with_name("lock").exists()


async def test_an_unfinished_apply_is_not_continued_into_another_plan(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    fleet.benches["server1"].state(0, DENY=1)
    assert (await applied(fleet)).exit == 1
    other = fleet.planned(server2_0="10.20.0.77/24").site()
    meant = meant_by_unfinished(other.home)
    drawn = await draw(other, meant)
    with pytest.raises(StalePlan, match=r"server2/0: 10.20.0.3/24 then, 10.20.0.77/24 now"):
        refuse_other_intent(drawn, meant)


async def test_a_saved_plan_is_applied_exactly_or_refused_with_what_moved(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (2,))
    site = fleet.site()
    save(await draw(site), str(tmp_path / "plan.json"))
    saved = load(str(tmp_path / "plan.json"), "lab")
    set_by_hand(fleet, {"server1/1": ("10.20.0.9/24", "", "")})
    with pytest.raises(StalePlan) as stale:
        against(await draw(site), saved)
    assert "server1/1 address: unset (planned 10.20.0.2/24) then, 10.20.0.9/24 (as planned) now" in str(stale.value)
    assert fleet.sets("server1") == []
    fleet = sim_fleet(tmp_path / "other", (2,))
    site = fleet.site()
    record = await apply(site, against(await draw(site), saved))
    assert record.exit == 0
    with pytest.raises(
        StalePlan, match=r"server1/0 address: unset \(planned 10.20.0.1/24\) then, 10.20.0.1/24 \(as planned\) now"
    ):
        against(await draw(fleet.site()), saved)


async def test_a_saved_plan_with_conflicts_is_refused(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (2,)).planned(server1_0="10.20.0.5/24", server1_1="10.20.0.5/24")
    drawn = await draw(fleet.site())
    assert drawn.plan.problems
    save(drawn, str(tmp_path / "plan.json"))
    with pytest.raises(ConfigError, match="without conflicts"):
        load(str(tmp_path / "plan.json"), "lab")


async def test_what_moved_between_plan_and_apply_is_seen_before_anything_is_sent(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    site = fleet.site()
    drawn = await draw(site)
    set_by_hand(fleet, {"server2/0": ("10.20.0.3/24", "", "")})
    with pytest.raises(StalePlan, match="server2/0 address"):
        await apply(site, drawn)
    assert fleet.sets("server1") == fleet.sets("server2") == []
    assert latest(site.home, "apply") is None


async def test_a_dry_run_tells_the_commands_ways_around_included_and_sends_none(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (2,)).planned(server1_0="10.20.0.1/24", server1_1="10.20.0.2/24")
    set_by_hand(fleet, {"server1/0": ("10.20.0.2/24", "10.20.0.254", ""), "server1/1": ("10.20.0.1/24", "", "")})
    record = await applied(fleet, dry_run=True)
    lines = record.extra["commands"]["server1"]
    assert lines[0] == "hccn_tool -i 0 -ip -s address 10.20.0.253 netmask 255.255.255.0"
    assert lines[1] == "hccn_tool -i 1 -ip -s address 10.20.0.2 netmask 255.255.255.0"
    assert fleet.sets("server1") == []
    assert (await applied(fleet)).exit == 0
    assert ["hccn_tool " + line for line in fleet.sets("server1")] == lines


async def test_an_address_at_which_a_stranger_answers_is_a_conflict_before_any_write(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    (tmp_path / "fabric/printer").write_text("ADDR=10.20.0.3\nMASK=255.255.255.0\nUP=1\nVLAN=100\n")
    blank = await draw(fleet.site())
    assert (blank.asked.new, blank.asked.asked, blank.plan.problems) == (4, 0, ())
    set_by_hand(fleet, {"server1/0": ("10.20.0.1/24", "", "")})
    drawn = await draw(fleet.site())
    assert (drawn.asked.new, drawn.asked.asked) == (3, 2)
    assert list(drawn.asked.answering) == [ip_address("10.20.0.3")]
    assert [p.rule for p in drawn.plan.problems] == ["answers_elsewhere"]
    assert plain_json(record_of(fleet.site(), drawn))["asked"] == {"new": 3, "asked": 2, "answered": ["10.20.0.3"]}
    record = await applied(fleet)
    assert (record.exit, fleet.sets("server1") + fleet.sets("server2")) == (1, [])


async def test_a_server_whose_file_cannot_be_put_back_is_not_touched(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    fleet.benches["server2"].conf.write_bytes(b"# \xff\xfe by hand\n")
    record = await applied(fleet, max_fail=1.0)
    assert record.exit == 1
    assert fleet.sets("server2") == []
    assert "so it could not be put back" in record.extra["not_accepted"]["server2"][0].en


async def test_a_journal_that_cannot_be_written_stops_it_before_the_first_change(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    (tmp_path / ".rankready").mkdir()
    (tmp_path / ".rankready/journal").write_text("no folder")
    with pytest.raises(RankreadyError, match="nothing is changed that is not journalled first"):
        await applied(fleet)
    assert fleet.sets("server1") + fleet.sets("server2") == []


async def test_ipv6_is_planned_but_not_forced_on_devices_that_have_none(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    six = replace(fleet.cluster.parameter_plane.segments[0], network=NETWORK6, gateway=None)
    drawn = await draw(fleet.with_plane(segments=(six,)).site())
    assert drawn.plan.changes == ()
    assert "the device does not support IPv6" in drawn.plan.unread[0][1].en


async def test_an_ipv6_plan_says_that_it_sets_no_target(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    six = replace(fleet.cluster.parameter_plane.segments[0], network=NETWORK6, gateway=None)
    silent = fleet.with_plane(segments=(six,), netdetect=NetDetectPolicy.NONE)
    told = [fleet.with_plane(segments=(six,)), silent, fleet]
    notes = [record_of(f.site(), await draw(f.site())).extra["notes"] for f in told]
    assert notes == [[NO_TARGET], [], []]


async def test_a_gateway_of_the_pool_is_set_before_the_target_and_a_wrong_one_is_told_and_mended(
    tmp_path: Path,
) -> None:
    fleet = sim_fleet(tmp_path, (2,)).with_plane(segments=(), pool=ip_network("10.20.0.0/24"), gateway=1)
    old = {
        "server1/0": ("10.20.0.7/24", "10.20.0.254", "10.20.0.254"),
        "server1/1": ("10.20.0.8/24", "10.20.0.254", ""),
    }
    set_by_hand(fleet, old)
    before = fleet.state()
    assert await gateways(fleet) == {"server1/0": Outcome.FAIL, "server1/1": Outcome.FAIL}
    assert (await applied(fleet)).exit == 0
    assert fleet.sets("server1") == [
        "-i 0 -gateway -s gateway 10.20.0.1",
        "-i 0 -netdetect -s address 10.20.0.1",
        "-i 1 -gateway -s gateway 10.20.0.1",
        "-i 1 -netdetect -s address 10.20.0.1",
    ]
    assert await gateways(fleet) == {"server1/0": Outcome.PASS, "server1/1": Outcome.PASS}
    site = fleet.site()
    assert (await undo(site, journal_of(site.home, None))).exit == 0
    assert fleet.state() == before


async def gateways(fleet: SimFleet) -> dict[str, Outcome]:
    record = await check(fleet.site(), only=("NET005",))
    return {str(v.place): v.outcome for v in record.verdicts}
