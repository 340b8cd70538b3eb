"""A second operator is told who changes the servers; a lock whose run has ended is recognised and taken over."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sim_fleet import sim_fleet

from rankready.model.command import Command
from rankready.model.errors import Locked
from rankready.runs import server_lock
from rankready.runs.apply import apply
from rankready.runs.lock import me, owner
from rankready.runs.plan import draw
from rankready.runs.script import ask
from rankready.runs.server_lock import FENCED, fenced, leave, take

if TYPE_CHECKING:
    from sim_fleet import SimFleet

    from rankready.runs.lock import Owner
    from rankready.runs.server_lock import Hold

BOOT = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def lock_file(fleet: SimFleet, server: str = "server1") -> Path:
    return fleet.benches[server].root / "run/rankready/lock"


async def hold(fleet: SimFleet, home: str = "") -> Hold:
    return await take(fleet.site(fleet.root / home if home else None), "apply", fleet.cluster.servers)


def someone() -> Owner:
    """This process, but with its records elsewhere."""
    return me("apply", Path("/elsewhere"))


def leave_behind(fleet: SimFleet, who: Owner, boot: str = BOOT) -> None:
    lock_file(fleet).parent.mkdir(parents=True, exist_ok=True)
    lock_file(fleet).write_text(f"0123456789abcdef\n{boot}\n{who.line()}\n")


def dead() -> Owner:
    """A process of this machine that has ended, with its number."""
    code = "from rankready.runs.lock import me; from pathlib import Path; print(me('apply', Path('/elsewhere')).line())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = owner(done.stdout)
    assert found is not None
    return found


async def test_a_second_run_on_another_machine_is_told_who_from_where_since_when(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path)
    leave_behind(fleet, replace(someone(), user="li", host="ops7", pid=42, since="2026-11-30T08:00:00+00:00"))
    site = fleet.site()
    with pytest.raises(Locked) as told:
        await apply(site, await draw(site))
    words = str(told.value)
    assert "server1: li on ops7 (process 42) is changing this cluster with apply since 2026-11-30T08:00:00" in words
    assert "server1：li 自 2026-11-30T08:00:00" in words
    assert f"ssh server1 rm {lock_file(fleet)}" in words
    assert fleet.sets("server1") == fleet.sets("server2") == []
    assert not lock_file(fleet, "server2").exists()  # what was taken before the refusal is given back


async def test_of_two_at_once_one_gets_all_and_the_other_none(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1, 1, 1))
    got = await asyncio.gather(hold(fleet, "a"), hold(fleet, "b"), return_exceptions=True)
    whole = [g for g in got if not isinstance(g, BaseException)]
    assert all(isinstance(g, Locked) for g in got if isinstance(g, BaseException))
    assert len(whole) <= 1
    for each in whole:
        assert list(each.servers) == ["server1", "server2", "server3"]
        await leave(fleet.site(), each)
    assert not any(lock_file(fleet, name).exists() for name in fleet.benches)


async def test_the_lock_of_a_process_that_has_ended_is_taken_over_and_that_is_said(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    leave_behind(fleet, dead())
    said: list[str] = []
    site = replace(fleet.site(), say=lambda t: said.append(t.en))
    got = await take(site, "undo", fleet.cluster.servers)
    assert got.freed == ("server1",)
    assert said == ["took over the lock of a run that has ended: server1"]
    assert owner(lock_file(fleet).read_text().splitlines()[2]) is not None


@pytest.mark.parametrize("moved", [{"started": "1"}, {"boot": "another boot of this machine"}])
async def test_a_later_process_of_the_same_number_is_not_the_holder(tmp_path: Path, moved: dict[str, str]) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    leave_behind(fleet, replace(someone(), **moved))  # type: ignore[arg-type]
    assert (await hold(fleet)).freed == ("server1",)


async def test_a_live_process_of_this_machine_holds(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    leave_behind(fleet, someone())
    with pytest.raises(Locked):
        await hold(fleet)


async def test_what_a_run_from_the_same_home_left_on_a_lost_server_is_taken_over(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    leave_behind(fleet, me("apply", fleet.site().home))
    assert (await hold(fleet)).freed == ("server1",)


async def test_a_lock_older_than_the_servers_boot_is_taken_over(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    leave_behind(fleet, replace(someone(), host="ops7"), boot="an earlier boot")
    assert (await hold(fleet)).freed == ("server1",)


async def test_a_lock_that_does_not_say_whose_it_is_holds_and_its_words_are_shown_harmlessly(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    lock_file(fleet).parent.mkdir(parents=True)
    lock_file(fleet).write_text(f"x\n{BOOT}\nnobody\n")
    with pytest.raises(Locked, match="does not say who"):
        await hold(fleet)
    leave_behind(fleet, replace(someone(), host="ops7", user="li\x1b[2J"))
    with pytest.raises(Locked) as told:
        await hold(fleet)
    assert "\x1b" not in str(told.value)


async def test_a_command_of_a_run_that_lost_its_lock_is_not_run(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    session = fleet.sessions["server1"]
    mine = await hold(fleet)
    touch = Command(argv=("touch", str(tmp_path / "done")))
    (ok,) = await ask(session, [fenced(touch, mine.token)])
    assert (ok.exit, (tmp_path / "done").exists()) == (0, True)
    (tmp_path / "done").unlink()
    leave_behind(fleet, dead())
    later = await hold(fleet)
    (refused,) = await ask(session, [fenced(touch, mine.token)])
    assert refused.exit == 75
    assert FENCED in refused.stderr
    assert not (tmp_path / "done").exists()
    await leave(fleet.site(), mine)  # not ours any more: stays
    assert lock_file(fleet).read_text().splitlines()[0] == later.token


async def test_taking_over_waits_for_the_set_that_still_runs(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    mine = await hold(fleet)
    go = tmp_path / "go"
    script = f'echo began >"{tmp_path}/log"; until [ -e "{go}" ]; do sleep 0.02; done; echo ended >>"{tmp_path}/log"'
    running = asyncio.create_task(
        ask(fleet.sessions["server1"], [fenced(Command(argv=("sh", "-c", script)), mine.token)])
    )
    while not (tmp_path / "log").exists():  # noqa: ASYNC110  (a file of another process, no event of ours)
        await asyncio.sleep(0.01)
    words = lock_file(fleet).read_text().splitlines()
    leave_behind(fleet, dead())
    lock_file(fleet).write_text("\n".join((words[0], "an earlier boot", words[2])) + "\n")
    taking = asyncio.create_task(hold(fleet))
    assert not (await asyncio.wait({taking}, timeout=0.3))[0]
    go.touch()
    assert (await taking).freed == ("server1",)
    assert (tmp_path / "log").read_text() == "began\nended\n"
    await running


async def test_where_run_is_not_ours_the_lock_lies_in_the_home_folder(tmp_path: Path) -> None:
    fleet = sim_fleet(tmp_path, (1,))
    (fleet.benches["server1"].root / "run").rmdir()
    got = await hold(fleet)
    assert got.servers == ("server1",)
    assert (fleet.benches["server1"].root / ".rankready/lock").exists()


def test_what_is_no_owner_is_none() -> None:
    assert owner("") is owner("[]") is owner('{"pid": "x"}') is owner('{"pid": 1}') is None
    assert server_lock.FENCED
