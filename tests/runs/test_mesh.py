"""Probing: limits kept, results kept, the pace found upward, and what a sick device, server or file costs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from farm_fleet import farm, right
from healthy_cluster import make_cluster
from server_farm import frame

from rankready.mesh.certificate import faults
from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.schedule import schedule
from rankready.model.cluster import Generation, Topology
from rankready.model.command import Reply
from rankready.model.errors import Locked, Unreachable
from rankready.model.finding import Outcome
from rankready.model.place import device_place
from rankready.model.snapshot import Gap
from rankready.products import atlas_a1
from rankready.runs.mesh import Limits, mesh
from rankready.runs.mesh_log import Log
from rankready.runs.mesh_pace import CALLS, Pace
from rankready.tools.hccn_tool import read_ping

if TYPE_CHECKING:
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
    first = farm(4, (0, 1))
    first.words.dead.add(device_place("server2", 1))
    await mesh(first.site(tmp_path)[0], Limits(max_probes=20))
    (log,) = (tmp_path / "mesh").glob("*.jsonl")
    whole = log.read_text().splitlines(keepends=True)
    assert len(whole) > 2
    log.write_text("".join(whole[:-1]) + whole[-1][:20])
    plan = schedule(first.words.cluster, atlas_a1.PRODUCT)
    back = Log(tmp_path, plan, resume=True)
    assert len(back.ledger) == pings(first) - 1
    back.close(done=False)


async def test_follow_ups_are_not_made_again_by_a_run_that_goes_on(tmp_path: Path) -> None:
    """A run that is killed after its follow-ups: what is known of them stands."""
    first = farm(5, (0, 1))
    first.words.dead.add(device_place("server2", 1))
    await mesh(first.site(tmp_path)[0], Limits(mode=Mode.SPARSE, sparse_k=1))
    (log,) = (tmp_path / "mesh").glob("*.jsonl")
    lines = log.read_text().splitlines(keepends=True)
    assert "done" in lines[-1]
    assert pings(first) > 5 * 2  # some were beside the plan
    log.write_text("".join(lines[:-1]))
    second = farm(5, (0, 1))
    second.words.dead.add(device_place("server2", 1))
    record = await mesh(second.site(tmp_path)[0], Limits(mode=Mode.SPARSE, sparse_k=1, resume=True))
    until_counters = [c.argv for _, c in second.calls]
    del until_counters[until_counters.index(next(a for a in until_counters if a[-2:] == ("-stat", "-g"))) :]
    assert not [a for a in until_counters if "-ping" in a]
    assert outcomes(record, "NET009", Outcome.FAIL) == {"server2/1"}


async def test_results_of_a_run_that_began_long_ago_prove_nothing_of_today(tmp_path: Path) -> None:
    first = farm(4, (0, 1))
    await mesh(first.site(tmp_path)[0], Limits(max_probes=12))
    (log,) = (tmp_path / "mesh").glob("*.jsonl")
    head, *rest = log.read_text().splitlines(keepends=True)
    log.write_text(json.dumps({**json.loads(head), "at": "2020-01-01T00:00:00+00:00"}) + "\n" + "".join(rest))
    again = farm(4, (0, 1))
    await mesh(again.site(tmp_path)[0], Limits(resume=True))
    assert pings(again) == 24


async def test_a_device_that_a_job_holds_is_not_called_unless_allowed(tmp_path: Path) -> None:
    held = device_place("server2", 1)
    fleet = farm(4, (0, 1))
    fleet.words.held.add(held)
    site, told = fleet.site(tmp_path)
    record = await mesh(site)
    assert "1 devices are held by jobs and left in peace: server2/1" in [t.en for t in told]
    called = {(name, c.argv[2]) for name, c in fleet.calls if "-ping" in c.argv}
    assert ("server2", "1") not in called
    address = str(fleet.words.cluster.addressing[held].interface.ip)
    assert not [c for _, c in fleet.calls if "-ping" in c.argv and c.argv[-1] == address]
    assert outcomes(record, "NET009", Outcome.UNKNOWN) >= {"server2/1"}
    assert record.extra["coverage"]["unmeasured"] == 6
    (reason,) = record.extra["coverage"]["not_measured"]
    assert "a job holds it" in reason
    assert record.exit == 3
    record = await mesh(fleet.site(tmp_path)[0], Limits(allow_busy=True))
    assert record.exit == 0
    assert record.extra["coverage"]["proven"] == 24


def test_results_come_back_as_they_were_kept(tmp_path: Path) -> None:
    plan = schedule(farm(4, (0, 1)).words.cluster, atlas_a1.PRODUCT)
    calls = tuple(plan.calls("server1"))
    results = [ProbeResult(probe=calls[n], sent=3, received=got) for n, got in ((0, 3), (2, 3), (3, 1), (5, 0))]
    log = Log(tmp_path, plan, resume=False)
    for result in (*results, results[2], ProbeResult(probe=calls[1], gap=Gap("not read"))):
        log.add(result)
    with pytest.raises(Locked):
        Log(tmp_path, plan, resume=True)
    log.close(done=False)
    back = Log(tmp_path, plan, resume=True)
    assert Counter(back.ledger) == Counter([*results, results[2]])
    assert not back.ledger.known(calls[1].source, calls[1].target)
    back.close(done=True)
    assert sum(byte.bit_count() for byte in back.path.with_suffix(".bits").read_bytes()) == 2
    assert len(back.path.read_text().splitlines()) == 1 + 3 + 1
    empty = Log(tmp_path, plan, resume=True)
    assert len(empty.ledger) == 0, "that run had ended"
    empty.close(done=False)


@pytest.mark.parametrize("topology", list(Topology))
@pytest.mark.parametrize("servers", [2, 9, 10])
def test_all_kinds_of_plans_come_back(topology: Topology, servers: int, tmp_path: Path) -> None:
    plan = schedule(make_cluster(servers, Generation.A1, topology), atlas_a1.PRODUCT, mode=Mode.DIRECTED)
    log = Log(tmp_path, plan, resume=False)
    calls = [p for s in plan.cluster.servers for p in plan.calls(s.name)]
    made = [ProbeResult(probe=p, sent=3, received=(3, 3, 0, 2)[n % 4]) for n, p in enumerate(calls)]
    for result in made:
        log.add(result)
    log.close(done=False)
    back = Log(tmp_path, plan, resume=True)
    assert Counter(back.ledger) == Counter(made)
    assert len(back.ledger) == sum(plan.calls_of(s.name) for s in plan.cluster.servers)
    back.close(done=True)


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


async def test_a_connection_that_breaks_once_costs_nothing(tmp_path: Path) -> None:
    fleet = farm(12, (0, 1))
    broken: list[str] = []

    def wrong(name: str, nonce: str, frames: Frames) -> bytes | Exception:
        if name == "server3" and any("-ping" in c.argv for c, _ in frames) and len(frames) == 16 and not broken:
            broken.append(name)
            return Unreachable("server3: connection lost")
        return right(name, nonce, frames)

    fleet.wrong = wrong
    record = await mesh(fleet.site(tmp_path)[0])
    assert broken
    assert (record.exit, record.extra["coverage"]["unmeasured"]) == (0, 0)
    assert pings(fleet) <= 12 * 2 * 11 + 16, "no more than the broken script is asked again"


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


async def test_probing_sets_nothing_so_there_is_nothing_to_put_back(tmp_path: Path) -> None:
    """Netdetect targets stand as they stood, whenever a run is cut off: no call of it changes a device."""
    fleet = farm(6, (0, 1))
    fleet.words.dead.update({device_place("server2", 1), device_place("server5", 0)})
    await mesh(fleet.site(tmp_path)[0])
    words = {c.argv for _, c in fleet.calls if c.argv[0] == "hccn_tool"}
    assert {"-ping", "-netdetect", "-stat"} <= {w for argv in words for w in argv}
    assert {argv[4] for argv in words} == {"-g"}


async def test_a_device_whose_calls_hang_costs_its_own_verdicts_alone(tmp_path: Path) -> None:
    fleet = farm(5, (0, 1))

    def wrong(name: str, nonce: str, frames: Frames) -> bytes:
        return right(
            name,
            nonce,
            [
                (c, frame(nonce, c.index, ("", "", 124)) if name == "server2" and c.argv[2:4] == ("1", "-ping") else f)
                for c, f in frames
            ],
        )

    fleet.wrong = wrong
    record = await mesh(fleet.site(tmp_path)[0])
    covered = record.extra["coverage"]
    assert (covered["proven"], covered["unmeasured"]) == (40 - 4, 4)
    assert not outcomes(record, "NET009", Outcome.FAIL)
    assert all("server2/1" in reason or "did not end" in reason for reason in covered["not_measured"])
    assert outcomes(record, "NET009", Outcome.PASS) >= {f"server{n}/0" for n in range(1, 6)}
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
        reply = said(command, busy=busy, duration_s=duration_s)
        pace.learn(reply, read_ping(reply))
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


def certified(record: Record) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(Path(record.extra["certificate"]["file"]).read_text())
    return said


async def test_what_a_run_proved_lies_in_a_file_that_holds_by_itself(tmp_path: Path) -> None:
    fleet = farm(4, (0, 1))
    record = await mesh(fleet.site(tmp_path)[0])
    said = certified(record)
    assert faults(said) == ()
    assert (said["complete"], said["proven"], said["digest"]) == (True, 24, record.extra["certificate"]["digest"])
    fleet.words.busy_probes.add(device_place("server1", 0))
    record = await mesh(fleet.site(tmp_path)[0])
    said = certified(record)
    assert faults(said) == ()
    assert (said["complete"], sum(said["not_measured"].values())) == (False, 3)
    assert record.extra["certificate"]["complete"] is False


async def test_more_packets_repeat_the_plan_as_often_as_needed(tmp_path: Path) -> None:
    fleet = farm(3, (0, 1))
    site, said = fleet.site(tmp_path)
    record = await mesh(site, Limits(packets=30))
    assert pings(fleet) == 3 * 12  # 12 packets of each device in one go
    assert any("2 times more, 24 probes" in t.en for t in said)
    assert (record.exit, record.extra["coverage"]["proven"]) == (0, 12)
    assert record.extra["coverage"]["packets"] == 3 * 12 * 3
