"""`run` from end to end: real guards, real processes, servers that are folders."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from guarded_job import eventually
from stubborn_job import tagged
from train_site import LAUNCH, options, train_site, train_spec

from rankready.runs.job import run
from rankready.runs.jobs import stop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110  (what is waited for is a line of another process)
            await asyncio.sleep(0.02)


async def test_a_job_trains_on_two_servers_and_leaves_its_story(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    lines: list[str] = []
    spec = train_spec(site, "--steps", "3")
    record = await run(site, spec, LAUNCH, options(lines))
    assert (record.exit, record.extra["cause"], record.extra["first_failure"]) == (0, "done", None)
    assert [(r["rank"], r["server"], r["local_rank"], r["exit"]) for r in record.extra["ranks"]] == [
        (0, "server1", 0, 0),
        (1, "server1", 1, 0),
        (2, "server2", 0, 0),
        (3, "server2", 1, 0),
    ]
    assert all(r["started"] < r["ended"] for r in record.extra["ranks"])
    assert any(x.startswith("[0] step=3 loss=") for x in lines)
    assert sum("sum=10 want=10 ok=True" in x for x in lines) == 4
    assert any("4 ranks started on 2 servers" in t.en for t in said)
    assert 0 <= record.extra["start"]["skew_s"] < 30
    assert sorted(record.extra["start"]["servers"]) == ["server1", "server2"]
    folder = site.home / "jobs" / spec.job
    assert "loss=" in (folder / "server1" / "train" / "rank-0.log").read_text()
    story = json.loads((folder / "job.json").read_text())
    assert [(r["rank"], r["host"], r["npu"]) for r in story["ranks"]] == [
        (0, "server1", 0),
        (1, "server1", 1),
        (2, "server2", 0),
        (3, "server2", 1),
    ]
    assert all(isinstance(r["pid"], int) for r in story["ranks"])
    assert all(abs(h["clock_offset_s"]) < 1 for h in story["hosts"])
    assert json.loads((folder / "result.json").read_text())["cause"] == "done"
    assert not tagged(spec.job)


async def test_the_rank_that_failed_is_named_and_all_others_end(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--fail-rank", "3", "--fail-step", "2")
    record = await run(site, spec, LAUNCH, options([]))
    first = record.extra["first_failure"]
    assert (record.exit, record.extra["cause"]) == (1, "rank_failed")
    assert (first["rank"], first["server"], first["local_rank"], first["exit"]) == (3, "server2", 1, 1)
    assert first["tail"][-1] == "RuntimeError: rank 3 fails at step 2, as it was told to"
    assert any("stopping all others" in t.en for t in said)
    assert not tagged(spec.job)


async def test_a_failure_ends_ranks_of_other_servers_that_would_never_notice(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    script = 'if [ "$RANK" = 2 ]; then exit 7; fi; exec sleep 600'
    spec = train_spec(site, argv=("sh", "-c", script))
    record = await run(site, spec, _shell_launcher(script), options([], master_s=0))
    assert record.extra["first_failure"]["rank"] == 2
    assert [(r["exit"], r["signal"]) for r in record.extra["ranks"]] == [(None, 15), (None, 15), (7, None), (None, 15)]
    assert not tagged(spec.job)


def _shell_launcher(script: str):  # type: ignore[no-untyped-def]  # noqa: ANN202  (a launcher like the real one)
    def commands(spec, node):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  (the same)
        return tuple(replace(c, argv=("sh", "-c", script)) for c in LAUNCH.commands(spec, node))

    return replace(LAUNCH, commands=commands)


async def test_ctrl_c_ends_all_in_order_and_is_130(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--pause", "0.05")
    lines: list[str] = []
    work = asyncio.create_task(run(site, spec, LAUNCH, options(lines)))
    await until(lambda: any("step=2" in x for x in lines))
    os.kill(os.getpid(), signal.SIGINT)
    record = await work
    assert (record.exit, record.extra["cause"], record.extra["first_failure"]) == (130, "interrupted", None)
    ends = {(r["exit"], r["signal"]) for r in record.extra["ranks"]}
    assert (None, 15) in ends
    assert ends <= {(None, 15), (1, None)}  # a rank may lose its stopped peer before it is stopped itself
    assert any("once more kills" in t.en for t in said)
    assert not tagged(spec.job)


async def test_ctrl_c_twice_does_not_wait_for_ranks_that_ignore_it(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    script = "trap '' TERM; echo ready; while :; do sleep 1; done"
    spec = train_spec(site)
    lines: list[str] = []
    work = asyncio.create_task(run(site, spec, _shell_launcher(script), options(lines, grace_s=300, master_s=0)))
    await until(lambda: len(lines) == 4)
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
    record = await asyncio.wait_for(work, 30)
    assert record.exit == 130
    assert {r["signal"] for r in record.extra["ranks"]} == {9}
    assert not tagged(spec.job)


async def test_a_server_that_can_not_be_reached_starts_nothing_anywhere_for_long(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path, dead=("server2",))
    spec = train_spec(site, "--steps", "100000")
    record = await run(site, spec, LAUNCH, options([]))
    assert (record.exit, record.extra["cause"]) == (1, "start_failed")
    assert "connection refused" in record.extra["not_started"]["server2"]
    assert [r["exit"] for r in record.extra["ranks"] if r["server"] == "server2"] == [None, None]
    assert any(t.en.startswith("server2: not started") for t in said)
    assert not tagged(spec.job)


async def test_a_job_from_outside_stopped_blames_no_rank(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--pause", "0.05")
    lines: list[str] = []
    work = asyncio.create_task(run(site, spec, LAUNCH, options(lines)))
    await until(lambda: any("step=2" in x for x in lines))
    stopped = await stop(site, spec.job, 1.0)
    record = await work
    assert stopped.exit == 0
    assert (record.exit, record.extra["cause"], record.extra["first_failure"]) == (1, "stopped", None)


async def test_a_broken_connection_is_taken_up_again_without_a_line_lost(tmp_path: Path) -> None:
    site, transport, said = train_site(tmp_path)
    spec = train_spec(site, "--steps", "60", "--pause", "0.05")
    lines: list[str] = []
    cut: list[bool] = []
    session = transport.session("server1")
    opening = session.open

    async def open_once_cut(command: str):  # type: ignore[no-untyped-def]  # noqa: ANN202  (the session's own)
        channel = await opening(command)
        if not cut:
            cut.append(True)
            asyncio.get_running_loop().call_later(1.0, lambda: asyncio.ensure_future(channel.close()))
        return channel

    session.open = open_once_cut  # type: ignore[method-assign]
    record = await run(site, spec, LAUNCH, options(lines))
    assert record.exit == 0
    assert [t.en.split(":")[1].split(";")[0].strip() for t in said if t.en.startswith("server1:")] == [
        "connection lost",
        "connected again",
    ]
    steps = [int(x.split("step=")[1].split()[0]) for x in lines if "step=" in x]
    assert steps == list(range(1, 61))


async def test_a_detached_job_goes_on_without_us(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "40", "--pause", "0.05")
    record = await run(site, spec, LAUNCH, options([], detach=True))
    assert (record.exit, record.extra["phase"]) == (0, "running")
    assert tagged(spec.job)
    ends = [tmp_path / "servers" / s / ".rankready/jobs" / spec.job / "exit" for s in ("server1", "server2")]
    assert eventually(lambda: all(e.exists() for e in ends))
    assert [r["exit"] for e in ends for r in json.loads(e.read_text())["ranks"]] == [0, 0, 0, 0]


@pytest.mark.parametrize("where", ["guard", "guardian"])
async def test_a_killed_guard_ends_the_job_everywhere(tmp_path: Path, where: str) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site)
    lines: list[str] = []
    script = "echo up; exec sleep 600"
    work = asyncio.create_task(run(site, spec, _shell_launcher(script), options(lines, master_s=0)))
    await until(lambda: len(lines) == 4)
    state = json.loads((tmp_path / "servers/server2/.rankready/jobs" / spec.job / "state").read_text())
    os.kill(state[where][0], signal.SIGKILL)
    record = await asyncio.wait_for(work, 30)
    assert (record.exit, record.extra["cause"]) == (3, "server_lost")
    assert not tagged(spec.job)


async def test_a_connection_lost_before_all_run_leaves_no_share_of_a_detached_job(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, dead=("server2",))
    spec = train_spec(site)
    lone = options([], detach=True, master_s=0)
    lone = replace(lone, times=replace(lone.times, start_s=2.0))
    work = asyncio.create_task(run(site, spec, _shell_launcher("exec sleep 600"), lone))
    await until(lambda: bool(tagged(spec.job)))
    work.cancel()  # as if this program had been killed: no order is sent
    await asyncio.gather(work, return_exceptions=True)
    assert await asyncio.to_thread(eventually, lambda: not tagged(spec.job))


async def test_a_rank_that_somebody_killed_is_said_to_be_killed(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site)
    lines: list[str] = []
    script = 'echo up; if [ "$RANK" = 1 ]; then kill -9 $$; fi; exec sleep 600'
    record = await run(site, spec, _shell_launcher(script), options(lines, master_s=0))
    first = record.extra["first_failure"]
    assert (first["rank"], first["signal"]) == (1, 9)
    assert first["how"]["en"].startswith("signal 9 (SIGKILL)")
    assert first["how"]["zh"].startswith("信号 9")
