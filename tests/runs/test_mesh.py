"""Probing: limits kept, results kept, the pace found upward, and what a sick device, server or file costs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from farm_fleet import farm, right

from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.schedule import schedule
from rankready.model.command import Reply
from rankready.model.errors import Locked, Unreachable
from rankready.model.finding import Outcome
from rankready.model.place import device_place
from rankready.products import atlas_a1
from rankready.runs.mesh import Limits, mesh
from rankready.runs.mesh_log import Log
from rankready.runs.mesh_pace import CALLS, Pace

if TYPE_CHECKING:
    from pathlib import Path

    from farm_fleet import FarmFleet, Frames

    from rankready.mesh.probe import Probe
    from rankready.model.command import Command
    from rankready.model.record import Record

RINGS = ((0, 1, 2, 3), (4, 5, 6, 7))


def pings(fleet: FarmFleet) -> int:
    return sum("-ping" in call.argv for _, call in fleet.calls)


def outcomes(record: Record, code: str, outcome: Outcome) -> set[str]:
    return {str(v.place) for v in record.verdicts if v.code == code and v.outcome is outcome}


async def test_a_full_run_of_a_small_cluster_is_a_proof_and_says_so_first(tmp_path: Path) -> None:
    fleet = farm(4, (0, 1))
    site, said = fleet.site(tmp_path)
    record = await mesh(site)
    preview = said[-1].en
    assert "24 probes from 4 servers in 6 rounds" in preview
    assert "measured on 9" in preview
    assert "a proof: 24 of 24 pairs of rails" in preview
    assert record.extra["coverage"]["grade"] == "proof"
    assert pings(fleet) == 24


async def test_a_sparse_run_never_says_how_much_without_of_what(tmp_path: Path) -> None:
    site, said = farm(8, (0,)).site(tmp_path)
    record = await mesh(site, Limits(mode=Mode.SPARSE, sparse_k=1))
    assert record.extra["coverage"]["grade"] == "localisation"
    assert "8 of 28 pairs of rails (29 %)" in said[-1].en
    assert [n["en"] for n in record.extra["notes"]] == [
        "localisation grade, not a proof: 8 of 28 pairs of rails (29 %)"
    ]


async def test_a_limit_of_probes_is_kept_and_the_rest_is_unknown(tmp_path: Path) -> None:
    fleet = farm(4, (0, 1))
    record = await mesh(fleet.site(tmp_path)[0], Limits(max_probes=12))
    assert pings(fleet) <= 12
    covered = record.extra["coverage"]
    assert (covered["proven"], covered["unmeasured"]) == (pings(fleet), 24 - pings(fleet))
    assert record.exit == 3


async def test_a_limit_of_time_ends_it_with_what_is_known(tmp_path: Path) -> None:
    record = await mesh(farm(4, (0, 1)).site(tmp_path)[0], Limits(max_time_s=1e-9))
    assert record.extra["coverage"]["unmeasured"] == 24
    assert "the time limit was reached" in record.extra["coverage"]["reason"]
    assert record.exit == 3


async def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    first = farm(4, (0, 1))
    await mesh(first.site(tmp_path)[0], Limits(max_probes=12))
    made = pings(first)
    second = farm(4, (0, 1))
    site, said = second.site(tmp_path)
    record = await mesh(site, Limits(resume=True))
    assert pings(second) == 24 - made
    assert f"going on: {made} results are known" in [t.en for t in said]
    assert (record.exit, record.extra["coverage"]["proven"]) == (0, 24)


async def test_a_run_that_ended_is_not_gone_on_with(tmp_path: Path) -> None:
    await mesh(farm(2, (0,)).site(tmp_path)[0])
    again = farm(2, (0,))
    await mesh(again.site(tmp_path)[0], Limits(resume=True))
    assert pings(again) == 2


async def test_a_kill_in_the_middle_of_a_line_loses_that_line_alone(tmp_path: Path) -> None:
    await mesh(farm(4, (0, 1)).site(tmp_path)[0], Limits(max_probes=12))
    (log,) = (tmp_path / "mesh").iterdir()
    whole = log.read_text().splitlines(keepends=True)
    log.write_text("".join(whole[:-1]) + whole[-1][:20])
    fleet = farm(4, (0, 1))
    assert (await mesh(fleet.site(tmp_path)[0], Limits(resume=True))).exit == 0
    assert pings(fleet) == 24 - (len(whole) - 2)


def test_results_come_back_as_they_were_kept(tmp_path: Path) -> None:
    plan = schedule(farm(4, (0, 1)).words.cluster, atlas_a1.PRODUCT)
    calls = tuple(plan.calls("server1"))
    results = {
        slot: ProbeResult(probe=calls[slot], sent=3, received=got) for slot, got in ((0, 3), (2, 3), (3, 1), (5, 0))
    }
    log = Log(tmp_path, plan, resume=False)
    log.add("server1", results)
    with pytest.raises(Locked):
        Log(tmp_path, plan, resume=True)
    log.close(done=False)
    back = Log(tmp_path, plan, resume=True)
    assert back.known == {"server1": results}
    back.close(done=True)
    line = json.loads(back.path.read_text().splitlines()[1])
    assert (line["pass"], line["not"]) == ("5", [[3, 3, 1], [5, 3, 0]])


def test_another_plan_has_another_file(tmp_path: Path) -> None:
    small, large = (schedule(farm(n, (0, 1)).words.cluster, atlas_a1.PRODUCT) for n in (3, 4))
    names = set()
    for plan in (small, large):
        log = Log(tmp_path, plan, resume=False)
        names.add(log.path.name)
        log.close(done=False)
    assert len(names) == 2


async def test_a_silent_device_is_named_by_the_others(tmp_path: Path) -> None:
    fleet = farm(5, (0, 1))
    fleet.words.dead.add(device_place("server2", 1))
    record = await mesh(fleet.site(tmp_path)[0])
    assert outcomes(record, "NET009", Outcome.FAIL) == {"server2/1"}
    assert record.exit == 1


async def test_a_server_lost_between_two_chunks_keeps_what_it_had_proven(tmp_path: Path) -> None:
    fleet = farm(12, (0, 1))
    asked = {"server3": 0}

    def wrong(name: str, nonce: str, frames: Frames) -> bytes | Exception:
        if name == "server3" and any("-ping" in c.argv for c, _ in frames):
            asked[name] += 1
            if asked[name] > 1:
                return Unreachable("server3: connection lost")
        return right(name, nonce, frames)

    fleet.wrong = wrong
    record = await mesh(fleet.site(tmp_path)[0])
    assert outcomes(record, "HST001", Outcome.UNKNOWN) == {"server3"}
    covered = record.extra["coverage"]
    assert covered["planned"] - 22 < covered["proven"] < covered["planned"]
    assert not outcomes(record, "NET009", Outcome.FAIL)


async def test_who_did_not_answer_the_audit_is_not_waited_for_again(tmp_path: Path) -> None:
    fleet = farm(3, (0, 1))

    def wrong(name: str, nonce: str, frames: Frames) -> bytes:
        return b"" if name == "server1" else right(name, nonce, frames)

    fleet.wrong = wrong
    record = await mesh(fleet.site(tmp_path)[0])
    assert not [c for name, c in fleet.calls if name == "server1" and "-ping" in c.argv]
    assert outcomes(record, "HST001", Outcome.UNKNOWN) == {"server1"}
    assert record.exit == 3


async def test_busy_is_asked_once_more_and_then_not_measured(tmp_path: Path) -> None:
    fleet = farm(3, (0, 1))
    fleet.words.busy_probes.add(device_place("server1", 0))
    record = await mesh(fleet.site(tmp_path)[0])
    made = [c for name, c in fleet.calls if name == "server1" and "-ping" in c.argv and c.argv[2] == "0"]
    assert len(made) == 2 * 2
    assert "busy" in record.extra["coverage"]["reason"]
    assert record.extra["coverage"]["busy_servers"] == 1
    assert record.exit == 3


def said(command: Command, *, busy: bool = False, duration_s: float = 1.0) -> Reply:
    if busy:
        return Reply(command=command, stdout="hccn_tool is busy, please try again.\n", stderr="", exit=11)
    device, target = command.argv[2], command.argv[-1]
    got = "".join(f"recv seq={n},time=0.031000ms\n" for n in range(3))
    text = f"device {device} PING {target}\n{got}3 packets transmitted, 3 received, 0.00% packet loss\n"
    return Reply(command=command, stdout=text, stderr="", exit=0, duration_s=duration_s)


def some_probes() -> list[Probe]:
    return list(schedule(farm(4, tuple(range(8))).words.cluster, atlas_a1.PRODUCT).calls("server1"))[:CALLS]


def work(pace: Pace, *, busy: bool = False, duration_s: float = 1.0) -> int:
    """One level's worth of calls; returns the lanes that they had."""
    lanes = pace.lanes
    for command in pace.commands(some_probes()):
        pace.learn(said(command, busy=busy, duration_s=duration_s))
    pace.climb()
    return lanes


def test_the_pace_climbs_from_one_while_nothing_is_busy_or_slower() -> None:
    rings = tuple((d,) for d in range(8))
    pace = Pace(rings, highest=4, fixed=False)
    assert [work(pace) for _ in range(4)] == [1, 2, 4, 4]
    assert pace.best == 4


def test_devices_of_one_ring_never_call_at_once() -> None:
    pace = Pace(RINGS, highest=4, fixed=False)
    assert [work(pace) for _ in range(3)] == [1, 2, 2]
    lanes = {c.argv[2]: c.lane for c in pace.commands(some_probes())}
    assert {lanes[str(d)] for d in range(4) if str(d) in lanes} <= {"ring0"}
    assert {lanes[str(d)] for d in range(4, 8) if str(d) in lanes} <= {"ring1"}


def test_the_first_busy_answer_takes_it_back_to_one_for_good() -> None:
    pace = Pace(RINGS, highest=4, fixed=False)
    assert [work(pace), work(pace, busy=True), work(pace), work(pace)] == [1, 2, 1, 1]
    assert (pace.busy, pace.best) == (True, 1)


def test_a_level_that_slows_calls_down_is_left() -> None:
    pace = Pace(RINGS, highest=4, fixed=False)
    assert [work(pace), work(pace, duration_s=1.3), work(pace)] == [1, 2, 1]
    assert pace.best == 1


def test_by_default_one_call_at_a_time_is_made() -> None:
    pace = Pace(RINGS, highest=1, fixed=True)
    assert [work(pace) for _ in range(3)] == [1, 1, 1]
    assert {c.lane for c in pace.commands(some_probes())} == {"mesh"}
