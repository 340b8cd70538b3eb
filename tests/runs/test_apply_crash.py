"""Killed at every write of the journal and before every set: `undo` gives what stood before, `--continue` the plan."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from ipaddress import ip_interface
from typing import TYPE_CHECKING

import pytest
from sim_fleet import set_by_hand, sim_fleet

from rankready.model.errors import ConfigError
from rankready.runs.apply import apply, settle
from rankready.runs.journal import unfinished
from rankready.runs.plan import draw
from rankready.runs.stale import meant_by_unfinished, refuse_other_intent
from rankready.runs.undo import journal_of, undo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sim_fleet import SimFleet

    from rankready.model.record import Record

# two devices exchange their addresses; the third changes its segment, and gets a gateway where none was
BEFORE = {
    "server1/0": ("10.20.0.2/24", "10.20.0.254", "10.20.0.254"),
    "server1/1": ("10.20.0.1/24", "", "10.20.0.9"),
    "server2/0": ("10.31.0.7/16", "10.31.0.1", ""),
}
PLAN = {"server1_0": "10.20.0.1/24", "server1_1": "10.20.0.2/24", "server2_0": "10.20.0.3/24"}
WRITES = 10  # fsyncs of this apply: folder, begin; before, change, done of two servers; what stands now; its end
AS_PLANNED = [
    f"ADDR={interface.ip} GW=10.20.0.254 MASK=255.255.255.0NETDETECT=10.20.0.254"
    for interface in map(ip_interface, PLAN.values())
]
BACK = 10  # set calls of its undo, the step aside that takes a gateway away included
SETS = 9  # set calls: address, gateway and target of three devices where they differ, one more for the exchange


def stand(root: Path) -> SimFleet:
    fleet = sim_fleet(root, (2, 1)).planned(**PLAN)
    set_by_hand(fleet, BEFORE)
    return fleet


async def _whole_apply(fleet: SimFleet) -> Record:
    site = fleet.site()
    return await apply(site, await draw(site))


async def _go_on(fleet: SimFleet) -> Record:
    site = fleet.site()
    meant = meant_by_unfinished(site.home)
    await settle(site)
    drawn = await draw(site, meant)
    refuse_other_intent(drawn, meant)
    return await apply(site, drawn)


def whole_apply(fleet: SimFleet) -> Record:
    return asyncio.run(_whole_apply(fleet))


def go_on(fleet: SimFleet) -> Record:
    return asyncio.run(_go_on(fleet))


def put_back(fleet: SimFleet) -> Record:
    return asyncio.run(_put_back(fleet))


def carried(fleet: SimFleet) -> list[str]:
    return [value for key, value in fleet.state().items() if "conf" not in key]


async def _put_back(fleet: SimFleet) -> Record:
    site = fleet.site()
    return await undo(site, journal_of(site.home, None))


def child(fleet: SimFleet, *, at_write: int | None = None) -> int:
    """Apply in a process of its own, killed at its n-th fsync; returns the signal that it died of."""
    pid = os.fork()
    if not pid:
        seen = 0

        def profile(_frame: object, event: str, function: object) -> None:
            nonlocal seen
            if event == "c_call" and function is os.fsync:
                seen += 1
                if seen == at_write:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(profile)
        try:
            whole_apply(fleet)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WTERMSIG(status)


def kill_before_set(fleet: SimFleet, number: int, work: Callable[[SimFleet], Record] = whole_apply) -> int:
    """Work in a process of its own, killed from the server's side as the n-th set of the whole run begins."""
    counted = fleet.root / "counted"
    counted.unlink(missing_ok=True)
    script = (
        f'echo x >>"{counted}"; [ "$(wc -l <"{counted}")" -ne {number} ] || kill -9 "$(cat "{fleet.root}/pid")"\n'
        "sleep 0.02\n"
    )
    for name in fleet.benches:
        for each in range(1, SETS + BACK + 1):
            fleet.spy(name).with_name(f"{name}.sets.{each}").write_text(script)
    pid = os.fork()
    if not pid:
        (fleet.root / "pid").write_text(str(os.getpid()))
        try:
            work(fleet)
        finally:
            os._exit(0)
    _, status = os.waitpid(pid, 0)
    for name in fleet.benches:
        fleet.spy(name).unlink(missing_ok=True)
        for each in range(1, SETS + BACK + 1):
            fleet.spy(name).with_name(f"{name}.sets.{each}").unlink()
    return os.WTERMSIG(status)


def test_what_is_killed_here_is_a_whole_apply(tmp_path: Path) -> None:
    fleet = stand(tmp_path)
    before = fleet.state()
    record = whole_apply(fleet)
    assert record.exit == 0, record.extra
    calls = fleet.sets("server1") + fleet.sets("server2")
    assert len(calls) == SETS, calls
    state = fleet.state()
    assert state["server1/0"].startswith("ADDR=10.20.0.1 GW=10.20.0.254 MASK=255.255.255.0")
    assert "address_0=10.20.0.1\n" in state["server1 conf"]
    assert unfinished(fleet.site().home) is None
    undone = put_back(fleet)
    assert undone.exit == 0, undone.extra
    assert fleet.state() == before


def test_every_write_is_a_point_to_be_killed_at(tmp_path: Path) -> None:
    assert child(stand(tmp_path / "a"), at_write=WRITES) == signal.SIGKILL
    assert child(stand(tmp_path / "b"), at_write=WRITES + 1) == 0


@pytest.mark.parametrize("point", range(1, WRITES + 1))
def test_killed_at_a_write_of_the_journal_then_undone(tmp_path: Path, point: int) -> None:
    fleet = stand(tmp_path)
    before = fleet.state()
    assert child(fleet, at_write=point) == signal.SIGKILL
    try:
        record = put_back(fleet)
        assert record.exit == 0, record.extra
    except ConfigError:
        assert point == 1  # not even begun: there is no journal to undo
    assert fleet.state() == before


@pytest.mark.parametrize("point", range(1, WRITES + 1))
def test_killed_at_a_write_of_the_journal_then_finished_then_undone(tmp_path: Path, point: int) -> None:
    fleet = stand(tmp_path)
    before = fleet.state()
    assert child(fleet, at_write=point) == signal.SIGKILL
    try:
        record = go_on(fleet)
    except ConfigError:
        assert point in (1, WRITES)  # not begun, or written to its end: nothing is left to be continued
        record = whole_apply(fleet)
    assert record.exit == 0, record.extra
    assert carried(fleet) == AS_PLANNED
    assert put_back(fleet).exit == 0
    assert fleet.state() == before


@pytest.mark.parametrize("number", range(1, SETS + 1))
def test_killed_while_a_server_is_set_then_undone(tmp_path: Path, number: int) -> None:
    fleet = stand(tmp_path)
    before = fleet.state()
    assert kill_before_set(fleet, number) == signal.SIGKILL
    record = put_back(fleet)
    assert record.exit == 0, record.extra
    assert fleet.state() == before


@pytest.mark.parametrize("number", range(1, SETS + 1))
def test_killed_while_a_server_is_set_then_finished(tmp_path: Path, number: int) -> None:
    fleet = stand(tmp_path)
    assert kill_before_set(fleet, number) == signal.SIGKILL
    record = go_on(fleet)
    assert record.exit == 0, record.extra
    assert carried(fleet) == AS_PLANNED
    assert unfinished(fleet.site().home) is None


@pytest.mark.parametrize("number", range(1, BACK + 1))
def test_an_undo_that_is_killed_while_it_sets_is_undone_again(tmp_path: Path, number: int) -> None:
    fleet = stand(tmp_path)
    before = fleet.state()
    assert whole_apply(fleet).exit == 0
    fleet.spy("server1").unlink()
    fleet.spy("server2").unlink()
    assert kill_before_set(fleet, number, put_back) == signal.SIGKILL
    record = put_back(fleet)
    assert record.exit == 0, record.extra
    assert fleet.state() == before
