from __future__ import annotations

import asyncio
import os
import signal
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from guarded_job import eventually
from stubborn_job import tagged
from train_site import LAUNCH, options, train_site, train_spec

from rankready.model.errors import PlanError
from rankready.runs.job import run
from rankready.runs.job_spec import LINK_OFFSET
from rankready.runs.jobs import From, attach, ps, stop, table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not true():  # noqa: ASYNC110  (what is waited for is a line of another process)
            await asyncio.sleep(0.02)


async def test_ps_lists_jobs_of_all_servers_newest_first(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    assert (await ps(site)).extra["jobs"] == []
    done = train_spec(site, "--steps", "1")
    await run(site, done, LAUNCH, options([]))
    runs = train_spec(site, "--steps", "100000", "--pause", "0.05")
    await run(site, runs, LAUNCH, options([], detach=True))
    try:
        record = await ps(site)
        assert record.exit == 0
        told = {j["job"]: (j["phase"], j["ranks"], j["failed"], j["servers"]) for j in record.extra["jobs"]}
        assert told[runs.job] == ("running", 4, False, {"server1": "running", "server2": "running"})
        assert told[done.job] == ("ended", 4, False, {"server1": "ended", "server2": "ended"})
    finally:
        await stop(site, runs.job, 1.0)
    lines: list[str] = []
    table((await ps(site)).extra["jobs"], lines.append)
    assert any(runs.job in line and "stopped" in line for line in lines)
    assert any(done.job in line and "ended" in line for line in lines)


async def test_a_silent_server_makes_the_list_incomplete(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path, dead=("server2",))
    record = await ps(site)
    assert record.exit == 3
    assert record.extra["not_asked"] == [{"server": "server2", "reason": "server2: connection refused"}]
    assert any("server2" in t.en for t in said)


async def test_stop_ends_a_detached_job_everywhere(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--pause", "0.05")
    await run(site, spec, LAUNCH, options([], detach=True))
    record = await stop(site, spec.job, 1.0)
    assert record.exit == 0
    assert [(s["server"], s["phase"], s["left"]) for s in record.extra["stopped"]] == [
        ("server1", "ended", []),
        ("server2", "ended", []),
    ]
    assert not tagged(spec.job)


@pytest.mark.parametrize("job", ["", "../x", "$(reboot)"])
async def test_what_is_no_job_is_refused(tmp_path: Path, job: str) -> None:
    site, _, _ = train_site(tmp_path)
    with pytest.raises(PlanError, match="is no job"):
        await stop(site, job)


async def test_attach_shows_the_rest_of_a_detached_job_and_how_it_ended(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "30", "--pause", "0.05")
    first: list[str] = []
    await run(site, spec, LAUNCH, options(first, detach=True))
    rest: list[str] = []
    record = await attach(site, spec.job, options(rest))
    assert (record.exit, record.extra["cause"]) == (0, "done")
    assert [(r["rank"], r["exit"]) for r in record.extra["ranks"]] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert any("step=30" in x for x in rest)
    whole = (site.home / "jobs" / spec.job / "server1/train/rank-0.log").read_text()
    assert [f"step={n} " in whole for n in range(1, 31)] == [True] * 30
    assert whole.count("step=1 ") == 1


async def test_attach_ends_a_detached_job_everywhere_when_one_rank_fails(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--pause", "0.02", "--fail-rank", "2", "--fail-step", "60")
    await run(site, spec, LAUNCH, options([], detach=True))
    record = await attach(site, spec.job, options([]))
    assert (record.exit, record.extra["first_failure"]["rank"]) == (1, 2)
    assert not tagged(spec.job)


async def test_attach_shows_chosen_ranks_from_a_chosen_moment(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--pause", "0.05")
    await run(site, spec, LAUNCH, options([], detach=True))
    try:
        for since, holds_first in ((From.START, True), (From.NOW, False)):
            lines: list[str] = []
            work = asyncio.create_task(attach(site, spec.job, options(lines, ranks=frozenset({0})), since))
            await until(lambda lines=lines: sum("step=" in x for x in lines) > 3)  # type: ignore[misc]
            os.kill(os.getpid(), signal.SIGINT)
            record = await work
            assert (record.exit, record.extra["phase"]) == (0, "running")
            assert {x.split("]")[0] for x in lines} == {"[0"}
            assert any("step=1 " in x for x in lines) is holds_first
        with pytest.raises(PlanError, match="has no rank 9; its ranks are 0 to 3"):
            await attach(site, spec.job, options([], ranks=frozenset({9})))
        assert tagged(spec.job)
    finally:
        await stop(site, spec.job, 1.0)


async def test_a_detached_job_with_a_lease_lives_while_somebody_is_attached(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    spec = train_spec(site, "--steps", "100000", "--pause", "0.05")
    held = options([], detach=True)
    held = replace(held, times=replace(held.times, lease_s=3.0))
    await run(site, spec, LAUNCH, held)
    lines: list[str] = []
    work = asyncio.create_task(attach(site, spec.job, options(lines)))
    await asyncio.sleep(4.0)  # longer than the lease
    assert not work.done()
    assert tagged(spec.job)
    os.kill(os.getpid(), signal.SIGINT)
    record = await work
    assert (record.extra["attached"], record.extra["lease_s"]) == (True, 3.0)
    assert any("goes on for 3 s" in t.en for t in said)
    assert await asyncio.to_thread(eventually, lambda: not tagged(spec.job))
    assert {j["cause"] for j in (await ps(site)).extra["jobs"]} == {"lease"}


async def test_attach_of_an_unknown_job_says_so(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    with pytest.raises(PlanError, match="no server knows"):
        await asyncio.wait_for(attach(site, "20260101-000000-abcdef01", options([])), 30)


async def test_stop_of_a_job_that_never_was_names_those_that_there_are(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    with pytest.raises(PlanError, match="they know none"):
        await stop(site, "20260101-000000-deadbeef", 0.0)
    spec = train_spec(site, "--steps", "1")
    await run(site, spec, LAUNCH, options([]))
    with pytest.raises(PlanError, match=rf"no server knows a job \S+; they know {spec.job} \(ended\): rankready ps"):
        await stop(site, "20260101-000000-deadbeef", 0.0)
    assert (await stop(site, spec.job, 0.0)).exit == 0


async def test_guards_that_do_not_reach_each_other_are_said_at_once(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as somebody:
        base_port = somebody.getsockname()[1] - LINK_OFFSET
        spec = replace(train_spec(site, "--steps", "100000", "--pause", "0.05"), hccl_base_port=base_port)
        record = await run(site, spec, LAUNCH, options([], detach=True))
    try:
        assert record.exit == 0
        apart = [t.en for t in said if "does not reach" in t.en]
        assert len(apart) == 1
        assert apart[0].startswith(f"server2: its guard does not reach that of node 0 at 127.0.0.1:{base_port + 31}: ")
        assert "only while somebody is attached" in apart[0]
        assert not any("watch over each other" in t.en for t in said)
    finally:
        await stop(site, spec.job, 0.0)
