"""`why` on the command line: text, JSON, exit codes, both languages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from log_cases import unpacked

from rankready.cli._app import group

if TYPE_CHECKING:
    from pathlib import Path


def test_a_folder_needs_no_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = unpacked("01_oom_killed_rank", tmp_path)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(group, ["--lang", "en", "why", str(folder)])
    assert done.exit_code == 1
    assert "rank 5" in done.output
    assert "only waited: rank 0-4,6-7" in done.output
    assert len(done.output.splitlines()) <= 24
    assert (
        CliRunner().invoke(group, ["--lang", "en", "why", str(folder)]).output.splitlines()[2:]
        == done.output.splitlines()[2:]
    )


def test_the_json_has_the_promised_keys(tmp_path: Path) -> None:
    folder = unpacked("02_link_down", tmp_path)
    done = CliRunner().invoke(group, ["why", "--json", str(folder)])
    told = json.loads(done.stdout)
    assert told["outcome"] == "cause"
    assert {"kind", "codes", "servers", "ranks", "devices", "time", "certainty", "title"} <= told["cause"].keys()
    assert {"suspects", "waited", "evidence", "not_checked", "timeline"} <= told.keys()
    assert told["cause"]["title"]["zh"]


def test_a_good_end_is_exit_0_and_chinese_is_spoken(tmp_path: Path) -> None:
    folder = unpacked("16_clean_run", tmp_path)
    done = CliRunner().invoke(group, ["--lang", "zh", "why", str(folder)])
    assert done.exit_code == 0
    assert "未发现故障" in done.output


def test_what_is_no_job_is_a_usage_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(group, ["why"]).exit_code == 2
    (tmp_path / "x.tar").write_text("no archive")
    assert CliRunner().invoke(group, ["why", "x.tar"]).exit_code == 2


@pytest.mark.parametrize("code", ["LOG070", "EI0002", "507015", "0x81078603", "0x80c98002", "host_oom_kill"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_logs_show_is_explained(code: str, lang: str) -> None:
    done = CliRunner().invoke(group, ["--lang", lang, "explain", code])
    assert done.exit_code == 0
    assert ("How to mend it" if lang == "en" else "修复") in done.output
