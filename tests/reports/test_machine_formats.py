from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from some_records import RECORDS, busy, failing, many, record, verdict

from rankready import catalog
from rankready.kind.report import Report
from rankready.model.change import Change, Plan, Problem, What
from rankready.model.finding import Outcome
from rankready.model.place import device_place, server_place
from rankready.model.text import Lang, Text
from rankready.reports.html import REPORT as HTML
from rankready.reports.json import REPORT as JSON
from rankready.reports.junit import REPORT as JUNIT

if TYPE_CHECKING:
    from rankready.model.record import Record

SCRIPT = "<script>alert(1)</script>\"'&\x1b[31m\u202e"


def as_json(value: Record) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(JSON.draw(value, Lang.EN, 80))
    return found


def test_every_report_is_found_by_its_name() -> None:
    assert [r.name for r in catalog.offered("reports", "REPORT", Report)] == ["html", "json", "junit", "text"]


def test_the_object_has_what_scripts_rely_on() -> None:
    out = as_json(
        record((failing("NET001", device_place("s1", 3)), verdict("NET002", server_place("s1"), Outcome.SKIP, "no")))
    )
    assert list(out)[:9] == [
        "version",
        "verb",
        "exit",
        "cluster",
        "simulated",
        "started",
        "seconds",
        "servers",
        "devices",
    ]
    assert out["version"] == 1
    assert out["verdicts"] == [
        {"code": "NET001", "place": "s1/3", "outcome": "fail"},
        {"code": "NET002", "place": "s1", "outcome": "skip", "reason": "no"},
    ]
    (finding,) = out["findings"]
    assert set(finding) == {"code", "severity", "certainty", "place", "message", "remedy", "evidence"}
    assert set(finding["message"]) == {"en", "zh"}
    assert finding["evidence"][0]["command"] == "show"
    assert set(finding["evidence"][0]) == {"command", "excerpt", "at"}


def test_what_follows_from_a_root_is_no_finding_of_its_own() -> None:
    root, child = (
        failing("NET001", server_place("a")),
        replace(failing("NET009", server_place("a")), outcome=Outcome.IMPLIED),
    )
    out = as_json(record((root, child)))
    assert [f["code"] for f in out["findings"]] == ["NET001"]
    assert [f["code"] for f in out["implied"]] == ["NET009"]


def test_a_plan_has_its_parts() -> None:
    change = Change(place=device_place("s1", 0), what=What.ADDRESS, before=None, after="10.0.0.1/24")
    problem = Problem(rule="r", places=(server_place("s1"),), message="m")
    out = as_json(
        record(plan=Plan(changes=(change,), problems=(problem,), unread=((server_place("s2"), Text("why", "为何")),)))
    )
    assert out["changes"] == [
        {"place": "s1/0", "what": "address", "before": None, "after": "10.0.0.1/24", "reason": "", "reason_zh": ""}
    ]
    assert out["problems"][0]["places"] == ["s1"]
    assert out["unread"] == [{"place": "s2", "reason": "why", "reason_zh": "为何"}]
    assert "changes" not in as_json(record())


def test_a_verbs_own_parts_stand_at_the_top_but_hide_nothing() -> None:
    out = as_json(
        record(
            extra={"coverage": {"proven": 1}, "exit": 77, "findings": [{"code": "RTB001"}], "at": device_place("s", 1)}
        )
    )
    assert out["coverage"] == {"proven": 1}
    assert out["at"] == "s/1"
    assert out["findings"] == [{"code": "RTB001"}]
    held = as_json(record((failing("NET001", server_place("a")),), exit=1, extra={"exit": 77, "findings": []}))
    assert held["exit"] == 1
    assert len(held["findings"]) == 1


@given(RECORDS)
@settings(max_examples=80)
def test_json_is_json_and_safe_to_print(value: Record) -> None:
    drawn = JSON.draw(value, Lang.EN, 80)
    assert json.loads(drawn)["cluster"] == value.cluster
    assert all(line.isprintable() for line in drawn.split("\n"))


@given(RECORDS)
@settings(max_examples=80)
def test_junit_is_xml(value: Record) -> None:
    suite = ET.fromstring(JUNIT.draw(value, Lang.ZH, 80))  # noqa: S314  (our own words)
    assert int(suite.get("tests", "-1")) == len(suite.findall("testcase"))


def test_junit_tells_each_outcome_its_own_way() -> None:
    found = tuple(
        replace(failing("NET001", server_place(o.value)), outcome=o)
        if o in (Outcome.FAIL, Outcome.WARN)
        else verdict("NET001", server_place(o.value), o, SCRIPT)
        for o in Outcome
    )
    suite = ET.fromstring(JUNIT.draw(record(found, exit=1), Lang.EN, 80))  # noqa: S314  (our own words)
    kinds = {case.get("name"): [child.tag for child in case] for case in suite.findall("testcase")}
    assert kinds == {
        "pass": ["system-out"],
        "warn": ["system-out"],
        "unknown": ["error"],
        "fail": ["failure"],
        "skip": ["skipped"],
        "implied": ["skipped"],
    }
    assert [suite.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["6", "1", "1", "2"]
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.text is not None
    assert "rankready plan" in failure.text
    assert "two" in failure.text


class Page(HTMLParser):
    """Collects tags, attributes and what a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def page(value: Record, lang: Lang = Lang.EN) -> Page:
    read = Page()
    read.feed(HTML.draw(value, lang, 80))
    return read


def hostile() -> Record:
    place = device_place(SCRIPT, 1)
    finding = replace(failing("NET001", place).findings[0], evidence=(), remedy=SCRIPT)
    extra = {
        "suspects": [{"places": [SCRIPT], "kind": SCRIPT, "next_test": {"en": SCRIPT, "zh": SCRIPT}}],
        "cause": {"title": SCRIPT, "kind": SCRIPT},
        "notes": [SCRIPT],
    }
    plan = Plan(
        changes=(Change(place=place, what=What.ADDRESS, before=SCRIPT, after=SCRIPT, reason=SCRIPT),),
        problems=(Problem(rule=SCRIPT, places=(place,), message=SCRIPT),),
    )
    failed = replace(failing("NET001", place), findings=(finding,))
    return record(
        (failed, verdict(SCRIPT, place, Outcome.UNKNOWN, SCRIPT)),
        exit=1,
        cluster=SCRIPT,
        plan=plan,
        extra=extra,
        verb=SCRIPT,
    )


@pytest.mark.parametrize("lang", Lang)
def test_nothing_remote_becomes_markup(lang: Lang) -> None:
    drawn = HTML.draw(hostile(), lang, 80)
    assert "<script" not in drawn
    assert "\x1b" not in drawn
    assert "\u202e" not in drawn
    read = page(hostile(), lang)
    assert read.tags["script"] == 0
    assert not any(name.startswith("on") for name, _ in read.attributes)
    assert "<script>alert(1)" in "".join(read.words)


def test_the_page_needs_no_network() -> None:
    drawn = HTML.draw(busy(20), Lang.EN, 80)
    assert not re.search(r"(?:https?:)?//\w|url\(|@import", drawn)
    read = page(busy(20))
    assert not {"link", "img", "iframe", "object", "script"} & set(read.tags)
    assert not [v for n, v in read.attributes if n in ("src", "href")]


def test_the_page_holds_both_languages_and_opens_in_one() -> None:
    value = busy(20)
    for lang in Lang:
        drawn = HTML.draw(value, lang, 80)
        assert f'id="{lang.value}" checked' in drawn
        assert drawn.count("checked>") == 1
        assert "JOB FAILED" in drawn
        assert "作业失败" in drawn


def test_simulated_answers_say_so_on_the_page() -> None:
    assert 'class="simulated"' in HTML.draw(busy(1), Lang.EN, 80)
    assert 'class="simulated"' not in HTML.draw(many(1), Lang.EN, 80)


@given(RECORDS)
@settings(max_examples=60)
def test_no_record_breaks_the_html(value: Record) -> None:
    read = page(value)
    assert read.tags["html"] == 1
    assert read.tags["script"] == 0


def test_all_views_count_alike() -> None:
    value = many(100)
    out = as_json(value)
    suite = ET.fromstring(JUNIT.draw(value, Lang.EN, 80))  # noqa: S314  (our own words)
    failed = [v for v in out["verdicts"] if v["outcome"] == "fail"]
    assert len(failed) == int(suite.get("failures", "0")) == 100
    assert f"{len(failed)} faults" in HTML.draw(value, Lang.EN, 80)
