from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from rankready import catalog
from rankready.cli._app import group
from rankready.kind.check import Check

CODES = [c.code for c in catalog.offered("checks", "CHECK", Check)]


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(("lang", "heading"), [("en", "How to mend it"), ("zh", "修复")])
def test_every_code_is_explained_in_both_languages(code: str, lang: str, heading: str) -> None:
    done = CliRunner().invoke(group, ["--lang", lang, "explain", code])
    assert done.exit_code == 0
    assert done.output.startswith(code)
    assert heading in done.output


def test_a_name_or_lower_case_will_do() -> None:
    runner = CliRunner()
    by_code = runner.invoke(group, ["--lang", "en", "explain", "NET001"]).output
    assert runner.invoke(group, ["--lang", "en", "explain", "net001"]).output == by_code
    assert runner.invoke(group, ["--lang", "en", "explain", "link_down"]).output == by_code


def test_an_unknown_code_names_the_nearest(tmp_path: object) -> None:
    done = CliRunner().invoke(group, ["--lang", "en", "explain", "NET01"])
    assert done.exit_code == 2
    assert "NET001" in done.output
    far = CliRunner().invoke(group, ["--lang", "zh", "explain", "\x1b[31mqqqq"])
    assert far.exit_code == 2
    assert "\x1b" not in far.output
    assert "没有名为" in far.output


def test_scripts_get_both_languages() -> None:
    out = json.loads(CliRunner().invoke(group, ["explain", "NET001", "--json"]).output)
    assert (out["verb"], out["exit"], out["code"], out["name"]) == ("explain", 0, "NET001", "link_down")
    assert all(set(out[key]) == {"en", "zh"} for key in ("title", "means", "matters", "mend"))
