from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from some_records import many, record

from rankready.cli._app import group
from rankready.records.store import write

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(group, ["-f", str(folder / "cluster.yaml"), "--lang", "en", "report", *words])


def test_the_newest_record_becomes_a_page_beside_it(tmp_path: Path) -> None:
    source = write(many(3), tmp_path / ".rankready")
    done = run(tmp_path)
    page = tmp_path / ".rankready/reports" / f"{source.stem}.html"
    assert done.exit_code == 0
    assert done.output.strip() == str(page)
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert [p.name for p in page.parent.iterdir()] == [page.name]


def test_a_verb_means_its_newest_record(tmp_path: Path) -> None:
    write(record(verb="mesh", started="2026-11-30T10:00:00+00:00"), tmp_path / ".rankready")
    write(record(verb="check", started="2026-11-30T11:00:00+00:00"), tmp_path / ".rankready")
    assert json.loads(run(tmp_path, "mesh", "--json").output)["verb"] == "mesh"
    assert json.loads(run(tmp_path, "--json").output)["verb"] == "check"


@pytest.mark.parametrize(("ending", "begins"), [("html", "<!DOCTYPE"), ("json", "{"), ("txt", "rankready check")])
def test_the_ending_chooses_the_form(tmp_path: Path, ending: str, begins: str) -> None:
    source = write(many(3), tmp_path)
    target = tmp_path / "new folder" / f"out.{ending}"
    assert run(tmp_path, str(source), "-o", str(target)).exit_code == 0
    assert target.read_text().startswith(begins)


def test_junit_goes_to_stdout_when_asked(tmp_path: Path) -> None:
    source = write(many(3), tmp_path)
    done = run(tmp_path, str(source), "-o", "-", "--format", "junit")
    assert ET.fromstring(done.output).get("failures") == "3"  # noqa: S314  (our own words)


def test_no_record_is_a_usage_error(tmp_path: Path) -> None:
    assert run(tmp_path).exit_code == 2
    assert run(tmp_path, "nothing.json").exit_code == 2
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    done = run(tmp_path, str(broken))
    assert done.exit_code == 2
    assert "broken.json" in done.output


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    source = write(many(1), tmp_path)
    done = run(tmp_path, str(source), "-o", str(source / "below.html"))
    assert done.exit_code == 2
    assert "below.html" in done.output
