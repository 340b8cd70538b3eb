"""`check --list` shows the catalogue by family; what may be chosen is what it shows. It contacts nobody."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankready import catalog
from rankready.cli._app import group
from rankready.kind.check import Check

if TYPE_CHECKING:
    from click.testing import Result

CODES = sorted(c.code for c in catalog.offered("checks", "CHECK", Check))


def run(*words: str, lang: str = "en") -> Result:
    return CliRunner().invoke(group, ["--lang", lang, "check", "--list", *words])


def codes(said: Result) -> list[str]:
    return [line.split()[0] for line in said.stdout.splitlines() if line.startswith("  ")]


def test_all_are_listed_in_order_under_their_families_in_both_languages() -> None:
    for lang, title in (("en", "OPT  optical modules"), ("zh", "OPT  光模块")):
        said = run(lang=lang)
        assert (said.exit_code, codes(said)) == (0, CODES)
        assert title in said.stdout.splitlines()
        heads = [line for line in said.stdout.splitlines() if not line.startswith("  ")]
        assert [h[:3] for h in heads] == sorted({c[:3] for c in CODES})
        assert all(len(h) > 3 for h in heads)


def test_rules_that_only_warn_say_so() -> None:
    lines = {line.split()[0]: line for line in run().stdout.splitlines() if line.startswith("  ")}
    assert lines["NET014"].endswith("(a warning)")
    assert not lines["NET001"].endswith("(a warning)")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--only", "OPT"), [c for c in CODES if c.startswith("OPT")]),
        (("--only", "NET001,link_flaps"), ["NET001", "NET013"]),
        (("--only", "NET01?", "--skip", "*_mixed"), ["NET013", "NET017", "NET019"]),
        (("--skip", "CAB,FWL,HST,JOB,NET,TLS,VER"), [c for c in CODES if c.startswith("OPT")]),
    ],
    ids=["family", "code and name", "patterns", "skipped families"],
)
def test_what_is_chosen_is_listed(words: tuple[str, ...], wanted: list[str]) -> None:
    assert codes(run(*words)) == wanted


def test_a_word_that_fits_nothing_is_a_usage_error() -> None:
    said = run("--only", "NET0999")
    assert said.exit_code == 2
    assert "NET0999" in said.stderr


def test_the_list_is_json_as_well() -> None:
    said = json.loads(run("--json").stdout)
    assert (said["version"], said["verb"], said["exit"]) == (1, "check", 0)
    rows = said["checks"]
    assert [r["code"] for r in rows] == CODES
    assert {"en", "zh"} == set(rows[0]["title"])
