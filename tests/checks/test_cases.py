"""Each case file says what one broken fact must lead to, and nothing more."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from healthy_cluster import load_case, seen

from rankready import catalog
from rankready.kind.check import Check, verdicts

CASES = Path(__file__).parents[1] / "cases"
CHECKS = tuple(catalog.offered("checks", "CHECK", Check))
FILES = sorted(CASES.glob("*/*.toml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_case(path: Path) -> None:
    cluster, facts, expect = load_case(path)
    case = tomllib.loads(path.read_text())
    chosen = [c for c in CHECKS if case.get("all") or c.code == case["code"]]

    judged = verdicts(chosen, cluster, seen(facts))

    unusual = {(v.code, str(v.place)): v.outcome.value for v in judged if v.outcome.value != "pass"}
    assert unusual == expect
    assert len({(v.code, v.place) for v in judged}) == len(judged)


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.name)
def test_every_check_has_a_quiet_and_a_loud_case(check: Check) -> None:
    loud = {p: load_case(p)[2] for p in FILES if p.parent.name == check.name}
    assert any(not expect for expect in loud.values())
    assert any(expect for expect in loud.values())


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_findings_speak_both_languages_and_say_what_to_do(path: Path) -> None:
    cluster, facts, _ = load_case(path)
    for verdict in verdicts(CHECKS, cluster, seen(facts)):
        for found in verdict.findings:
            assert found.message.en
            assert found.message.zh
            assert found.message.en.isascii()
            assert not found.message.zh.isascii()
            assert found.remedy
