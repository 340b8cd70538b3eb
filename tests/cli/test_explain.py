from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankready.cli._app import group
from rankready.cli._explained import entries, find, vendor

if TYPE_CHECKING:
    from rankready.cli._explained import Entry

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"\"([A-Z]{3}[0-9]{3})\"")
FAMILIES = ("NET", "CAB", "OPT", "TLS", "VER", "HST", "FWL", "JOB", "RTB", "LOG")
CHINESE = re.compile(r"[一-鿿]")
ENTRIES = entries()


def ledger() -> dict[str, str]:
    lines = (ROOT / "tests/checks/codes.txt").read_text().splitlines()
    return dict(line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#"))


def run(*words: str, lang: str = "en") -> str:
    done = CliRunner().invoke(group, ["--lang", lang, "explain", *words])
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.code)
def test_a_code_is_explained_in_both_languages(entry: Entry) -> None:
    told = entry.told
    for text in (entry.title, told.means, told.matters, told.mend):
        assert text.en.strip()
        assert not CHINESE.search(text.en)
        assert CHINESE.search(text.zh) or text.zh.startswith("rankready "), "only a command needs no translation"
        assert "{" not in text.en + text.zh, "a place that a finding would fill in"


def test_codes_and_names_are_unique_and_in_the_ledger_for_ever() -> None:
    written = ledger()
    assert len({e.code for e in ENTRIES}) == len(ENTRIES)
    assert {e.code: e.name for e in ENTRIES if written.get(e.code, "").strip() != e.name} == {}


def test_every_code_that_the_sources_name_is_explained() -> None:
    known = {e.code for e in ENTRIES}
    named = {
        code
        for path in (ROOT / "src/rankready").rglob("*.py")
        for code in CODE.findall(path.read_text())
        if code.startswith(FAMILIES)
    }
    assert {"NET001", "NET011", "JOB006", "JOB122", "RTB024", "LOG099"} <= named
    assert named - known == set()


def test_vendors_codes_are_explained_too() -> None:
    for entry in vendor():
        assert entry.told.means.en
        assert CHINESE.search(entry.told.means.zh)
    assert find("ei0006") in vendor()
    assert find("EI12345") is None


@pytest.mark.parametrize("code", ["NET001", "NET011", "JOB006", "JOB104", "RTB010", "LOG070"])
@pytest.mark.parametrize(("lang", "heading"), [("en", "How to mend it"), ("zh", "修复")])
def test_a_page_of_each_family(code: str, lang: str, heading: str) -> None:
    page = run(code, lang=lang)
    assert page.startswith(code)
    assert heading in page


def test_a_name_or_lower_case_will_do() -> None:
    by_code = run("NET001")
    assert run("net001") == by_code
    assert run("link_down") == by_code


def test_without_a_code_all_are_listed() -> None:
    page = run()
    assert all(f"  {e.code}  {e.name}" in page for e in ENTRIES)
    rows = json.loads(run("--json"))["codes"]
    assert [r["code"] for r in rows] == sorted(e.code for e in ENTRIES)


def test_a_page_keeps_to_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert max(len(line) for line in run("NET009").splitlines()) <= 40


def test_an_unknown_code_names_the_nearest() -> None:
    done = CliRunner().invoke(group, ["--lang", "en", "explain", "NET01"])
    assert done.exit_code == 2
    assert "NET001" in done.output
    far = CliRunner().invoke(group, ["--lang", "zh", "explain", "\x1b[31mqqqq"])
    assert far.exit_code == 2
    assert "\x1b" not in far.output
    assert "没有名为" in far.output


def test_scripts_get_both_languages() -> None:
    out = json.loads(run("NET001", "--json"))
    assert (out["verb"], out["exit"], out["code"], out["name"]) == ("explain", 0, "NET001", "link_down")
    assert all(set(out[key]) == {"en", "zh"} for key in ("title", "means", "matters", "mend"))
