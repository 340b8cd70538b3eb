"""A job that failed asks for its first fault by itself; what stands in the way is said, and its record is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest
from json_schema import mistakes
from sim_fleet import sim_fleet

from rankready.model.errors import Unreachable
from rankready.model.record import Record
from rankready.model.text import Lang
from rankready.reports.json import REPORT
from rankready.runs.fleet import Fleet
from rankready.runs.why_job import with_why

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.runs.site import Site

SCHEMA: dict[str, Any] = json.loads(files("rankready.reports").joinpath("data/schema.json").read_text())
JOB = "20260102-100000-00ab12cd"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return sim_fleet(tmp_path).site()


def failed(site: Site, cause: str = "rank_failed", *, recorded: bool = True) -> Record:
    """The record of a job whose rank 1 was killed from outside; ``recorded``: its folder is there."""
    folder = site.home / "jobs" / JOB
    rank = {
        "rank": 1,
        "server": "server2",
        "local_rank": 0,
        "exit": None,
        "signal": 9,
        "started": None,
        "ended": 1767348010.0,
    }
    extra = {"job": JOB, "cause": cause, "folder": str(folder), "ranks": [rank], "first_failure": rank}
    if recorded:
        folder.mkdir(parents=True)
        ranks = [{"rank": n, "host": f"server{n + 1}", "local_rank": 0, "npu": 0, "pid": 90 + n} for n in range(2)]
        job = {"world_size": 2, "started": "2026-01-02T10:00:00+00:00", "ranks": ranks}
        (folder / "job.json").write_text(json.dumps(job))
        (folder / "result.json").write_text(json.dumps(extra))
    return Record(verb="run", cluster="c", started="2026-01-02T10:00:00Z", seconds=1.0, exit=1, extra=extra)


@pytest.mark.parametrize("cause", ["rank_failed", "server_lost", "start_failed"])
async def test_a_rank_that_was_killed_from_outside_is_told(cause: str, site: Site) -> None:
    record = await with_why(site, failed(site, cause))
    told = record.extra["why"]
    assert (told["outcome"], told["cause"]["sign"], told["cause"]["ranks"]) == ("suspect", "killed", [1])
    assert mistakes(SCHEMA, json.loads(REPORT.draw(record, Lang.EN, 80))) == []


@pytest.mark.parametrize("cause", ["done", "interrupted", "stopped", None])
async def test_a_job_that_did_not_fail_is_asked_nothing(cause: str, site: Site) -> None:
    assert "why" not in (await with_why(site, failed(site, cause))).extra


class Refusing:
    """A transport to servers that are off."""

    name = "refusing"

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> Session:
        del timeout_s
        raise Unreachable(f"{server.name}: connection refused")

    async def close(self) -> None:
        """Nothing is open."""


async def test_servers_that_do_not_answer_are_told_and_the_rest_is_judged(site: Site) -> None:
    said: list[str] = []
    off = replace(site, fleet=Fleet(site.cluster, Refusing()), say=lambda text: said.append(text.en))
    told = (await with_why(off, failed(off))).extra["why"]
    assert (told["outcome"], told["cause"]["sign"]) == ("suspect", "killed")
    assert {n for n in told["not_checked"] if "not reachable" in n} == {
        "server1: not reachable",
        "server2: not reachable",
    }
    assert any(line.startswith("server1: not read: ") for line in said)


async def test_what_stands_in_its_way_does_not_lose_the_jobs_record(site: Site) -> None:
    said: list[str] = []
    record = await with_why(replace(site, say=lambda text: said.append(text.en)), failed(site, recorded=False))
    assert record.extra["ranks"]
    told = record.extra["why"]
    assert (told["outcome"], told["cause"], told["exit"]) == ("unknown", None, 3)
    assert told["not_checked"][0].startswith("everything: ")
    assert any(line.startswith("first fault: not looked for: ") for line in said)
    assert mistakes(SCHEMA, json.loads(REPORT.draw(record, Lang.EN, 80))) == []


async def test_the_schema_notices_a_broken_answer(site: Site) -> None:
    good = json.loads(REPORT.draw(await with_why(site, failed(site)), Lang.EN, 80))
    look = {"codes": ["NET001"], "state": "confirmed", "text": {"en": "x", "zh": "x"}, "evidence": []}
    good["why"]["confirmation"] = look
    assert mistakes(SCHEMA, good) == []
    cause = good["why"]["cause"]
    bad: tuple[dict[str, Any], ...] = (
        {"cause": {k: v for k, v in cause.items() if k != "sign"}},
        {"cause": {**cause, "code": 7}},
        {"confirmation": {**look, "state": "perhaps"}},
        {"confirmation": {k: v for k, v in look.items() if k != "evidence"}},
    )
    for change in bad:
        assert mistakes(SCHEMA, {**good, "why": {**good["why"], **change}}), change
