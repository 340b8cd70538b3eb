"""The walk through the guide: when it stops, what it tells on the way, what a dry run leaves alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fake_fleet import folder_site

from rankready.model.change import Change, Plan, What
from rankready.model.finding import Finding, Outcome, Severity, Verdict
from rankready.model.place import device_place
from rankready.model.text import Text
from rankready.runs.controller import RunOptions
from rankready.runs.job_spec import Asked
from rankready.runs.up import STAGES, Stage, Wanted, walk

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.runs.site import Site
    from rankready.runs.up import Work

PLACE = device_place("server1", 3)
CHANGE = Change(place=PLACE, what=What.ADDRESS, before="", after="10.20.0.1/24")
BAD = Verdict(
    code="NET001",
    place=PLACE,
    outcome=Outcome.FAIL,
    findings=(
        Finding(code="NET001", severity=Severity.ERROR, place=PLACE, message=Text("it is down", "已断开"), remedy="x"),
    ),
)


def wanted(*, dry_run: bool = False) -> Wanted:
    asked = Asked(argv=("train.py",))
    return Wanted(
        asked=asked,
        options=RunOptions(emit=lambda _: None),
        agree=lambda *_: None,
        script=Path("train.py"),
        dry_run=dry_run,
    )


def gives(code: int, called: list[str] | None = None, name: str = "", **parts: object) -> Work:
    async def work(site: Site, _: Wanted) -> Record:
        if called is not None:
            called.append(name)
        return site.record(name or "x", code, **parts)

    return work


def stage(verb: str, work: Work, **more: object) -> Stage:
    return Stage(verb=verb, title=Text(verb, f"{verb}步"), work=work, **more)  # type: ignore[arg-type]  # fields are typed by hand


@pytest.fixture
def site(tmp_path: Path) -> tuple[Site, list[Text]]:
    made, _, said = folder_site(tmp_path, 2)
    return made, said


async def test_each_step_is_told_when_it_begins_and_when_it_is_done(site: tuple[Site, list[Text]]) -> None:
    steps = (stage("check", gives(0, verdicts=(replace(BAD, outcome=Outcome.PASS),))), stage("logs", gives(0)))
    record = await walk(site[0], wanted(), steps)
    lines = [t.en for t in site[1]]
    assert lines[0] == "[1/2] check"
    assert lines[1].startswith("[1/2] ok  ")
    assert lines[1].endswith(" s  1/1")
    assert lines[2] == "[2/2] logs"
    assert "完成" in site[1][3].zh
    assert (record.exit, record.extra["stopped_at"], len(record.steps)) == (0, None, 2)
    assert "next" not in record.extra


async def test_it_stops_at_the_first_step_that_is_not_right_and_says_what_to_type(
    site: tuple[Site, list[Text]],
) -> None:
    called: list[str] = []
    steps = (
        stage("check", gives(1, verdicts=(BAD,))),
        stage("run", gives(0, called, "run")),
    )
    record = await walk(site[0], wanted(), steps)
    assert (record.exit, record.extra["stopped_at"], record.verdicts) == (1, "check", (BAD,))
    assert called == []
    told = record.extra["next"]
    assert told.en.startswith("rankready check; then")
    assert told.zh.startswith("rankready check；")


@pytest.mark.parametrize("verb", [s.verb for s in STAGES])
async def test_every_step_has_a_next_command(site: tuple[Site, list[Text]], verb: str) -> None:
    record = await walk(site[0], wanted(), (stage(verb, gives(3)),))
    assert record.extra["next"].en.startswith("rankready ")
    assert "{" not in record.extra["next"].en


async def test_scripts_always_find_the_parts_of_the_contract(site: tuple[Site, list[Text]]) -> None:
    stopped = await walk(site[0], wanted(), (stage("topology", gives(3)),))
    assert {k: stopped.extra[k] for k in ("coverage", "job", "ranks", "first_failure")} == {
        "coverage": None,
        "job": None,
        "ranks": [],
        "first_failure": None,
    }
    found = {"coverage": {"proven": 8, "planned": 16}}
    ran = {"job": "j1", "ranks": [{"rank": 0, "exit": 0}], "first_failure": None}
    done = await walk(site[0], wanted(), (stage("mesh", gives(0, extra=found)), stage("run", gives(0, extra=ran))))
    assert (done.extra["coverage"], done.extra["job"]) == (found["coverage"], "j1")
    assert [s.note for s in done.steps] == ["8/16", "1/1"]


async def test_a_dry_run_changes_nothing_and_walks_on(site: tuple[Site, list[Text]]) -> None:
    called: list[str] = []
    steps = (
        stage("apply", gives(0, called, "apply"), preview=gives(1, plan=Plan(changes=(CHANGE,)))),
        stage("check", gives(1, called, "check"), waits=True),
        stage("cabling", gives(1, verdicts=(BAD,))),
        stage("run", gives(0, called, "run"), preview=gives(0)),
    )
    record = await walk(site[0], wanted(dry_run=True), steps)
    assert called == []
    assert [s.verb for s in record.steps] == ["apply", "cabling", "run"]
    assert (record.exit, record.plan, record.verdicts) == (1, Plan(changes=(CHANGE,)), (BAD,))
    notes = [n.en for n in record.extra["notes"]]
    assert notes == ["not looked at before the addresses are set: check", "a dry run: nothing was changed"]
    assert "[1/4] to be done" in "\n".join(t.en for t in site[1])


async def test_a_dry_run_with_nothing_to_do_looks_at_everything(site: tuple[Site, list[Text]]) -> None:
    called: list[str] = []
    steps = (
        stage("apply", gives(0, called, "apply"), preview=gives(0, plan=Plan())),
        stage("check", gives(0, called, "check"), waits=True),
    )
    record = await walk(site[0], wanted(dry_run=True), steps)
    assert (called, record.exit) == (["check"], 0)


def test_whatever_changes_something_has_a_preview() -> None:
    changing = {s.verb for s in STAGES if s.preview is not None}
    assert changing == {"apply", "firewall", "run", "logs"}
