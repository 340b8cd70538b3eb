"""The reference tables, with what HCCL makes of each: for the generation that each is for, and without being told."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rank_tables import page

from rankready.model.cluster import Generation
from rankready.plan.ranktable import judge
from rankready.plan.ranktable.document import read_document

if TYPE_CHECKING:
    from rankready.plan.ranktable.rule import Sheet

TABLES = Path(__file__).with_name("tables")
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((TABLES / "expected.toml").read_text())
CASES = [
    (name, generation)
    for name, about in EXPECTED.items()
    for generation in (None, *(Generation(g) for g in about["generations"]))
]


def sheet(name: str, generation: Generation | None) -> Sheet:
    about = EXPECTED[name]
    beside = (read_document("other.json", (TABLES / about["beside"]).read_bytes()),) if "beside" in about else ()
    return page((TABLES / name).read_bytes(), generation, name, beside=beside)


def test_every_table_has_its_expectation() -> None:
    assert {p.name for p in TABLES.iterdir()} - {"expected.toml"} == set(EXPECTED)


@pytest.mark.parametrize(("name", "generation"), CASES, ids=[f"{n}-{g or 'untold'}" for n, g in CASES])
def test_the_verdict_is_as_expected_and_the_rule_is_named(name: str, generation: Generation | None) -> None:
    about = EXPECTED[name]
    found = sheet(name, generation)
    verdicts = judge.verdicts(found)
    assert judge.word(verdicts) == about["verdict"]
    worst = {"ok": "pass", "warn": "warn", "invalid": "fail"}[about["verdict"]]
    codes = {v.code for v in verdicts if v.outcome.value == worst and v.findings}
    if "code" in about:
        assert about["code"] in codes
        told = [v for v in judge.violations(found) if v["code"] == about["code"]]
        assert {v["hccl"] or "" for v in told} == {about["hccl"]}


@pytest.mark.parametrize("name", [n for n, a in EXPECTED.items() if a["verdict"] == "invalid"])
def test_an_invalid_table_breaks_few_rules(name: str) -> None:
    """One fault is told once: what only follows from it stays quiet."""
    generation = Generation(EXPECTED[name]["generations"][-1])
    codes = {v["code"] for v in judge.violations(sheet(name, generation)) if v["severity"] != "note"}
    assert len(codes) <= 2


@pytest.mark.parametrize("name", list(EXPECTED))
def test_each_finding_names_its_place_speaks_both_languages_and_says_what_to_do(name: str) -> None:
    for verdict in judge.verdicts(sheet(name, Generation(EXPECTED[name]["generations"][0]))):
        for found in verdict.findings:
            assert found.message.en.isascii()
            assert not found.message.zh.isascii()
            assert found.remedy
            assert found.evidence[0].command.startswith(name)


@pytest.mark.parametrize(
    "name", [n for n, a in EXPECTED.items() if n.endswith(".json") and "not_json" not in n and "a1" in a["generations"]]
)
def test_a_line_points_at_the_value(name: str) -> None:
    text = (TABLES / name).read_text(encoding="utf-8-sig")
    for found in judge.violations(sheet(name, Generation.A1)):
        line, value = found["line"], found["value"]
        if isinstance(line, int) and isinstance(value, str) and value:
            assert json.dumps(value)[1:-1] in text.split("\n")[line - 1]


def test_a_file_that_is_judged_alone_says_for_which_chips() -> None:
    verdicts = judge.verdicts(sheet("ok_v10_2x8_a1.json", None))
    assert [f.message.en for v in verdicts for f in v.findings] == [
        "no generation was told; by its layout and addresses the table is judged as one for A1"
    ]


def test_where_other_chips_would_refuse_the_same_table_that_is_told() -> None:
    verdicts = judge.verdicts(page(_no_addresses(), None))
    notes = [f.message.en for v in verdicts for f in v.findings]
    assert any(n.startswith("for A1 the same table would be warn (RTB050)") for n in notes)


def _no_addresses() -> bytes:
    devices = [{"device_id": str(d), "rank_id": str(d)} for d in range(8)]
    servers = [{"server_id": "n0", "device": devices}]
    return json.dumps({"status": "completed", "version": "1.0", "server_count": "1", "server_list": servers}).encode()
