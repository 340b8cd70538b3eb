"""What verbs really write with --json, against the schema that ships."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from json_schema import mistakes
from some_records import busy, many

from rankready.cli._app import group
from rankready.lab.engine import Lab, up
from rankready.lab.spec import Door, LabSpec
from rankready.model.text import Lang
from rankready.reports.json import REPORT

if TYPE_CHECKING:
    from collections.abc import Iterator

TRAIN = Path(__file__).parents[2] / "src" / "rankready" / "lab" / "data" / "jobs" / "train.py"
SCHEMA: dict[str, Any] = json.loads(files("rankready.reports").joinpath("data/schema.json").read_text())


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("schema") / "lab"
    up(LabSpec(directory=folder, door=Door.SIMULATED))
    yield folder
    Lab.open(folder).down()


def said(lab: Path, *words: str) -> dict[str, Any]:
    line = [sys.executable, "-m", "rankready", "-f", str(lab), *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["exit"] == done.returncode
    return found


VERBS = (  # in an order in which each finds what it needs
    ("plan", "--json"),
    ("check", "--json"),
    ("up", "--yes", "--json", "--nproc-per-node", "1", str(TRAIN), "--steps", "1"),
    ("mesh", "--json"),
    ("run", "--json", "--nproc-per-node", "1", str(TRAIN), "--steps", "2", "--fail-rank", "1", "--fail-step", "1"),
    ("why", "--json"),
    ("why", "--no-collect", "--json"),
    ("logs", "--json"),
    ("logs", "--json"),
    ("vet", "--json", str(TRAIN)),
)


def test_what_verbs_write_keeps_to_the_schema(lab: Path) -> None:
    wrong = {" ".join(words): found for words in VERBS if (found := mistakes(SCHEMA, said(lab, *words)))}
    assert wrong == {}


@pytest.mark.parametrize("count", [0, 5, 500])
def test_records_of_every_size_keep_to_the_schema(count: int) -> None:
    found = json.loads(REPORT.draw(many(count), Lang.EN, 80))
    assert mistakes(SCHEMA, found) == []


def test_a_broken_object_is_noticed() -> None:
    good = json.loads(REPORT.draw(busy(1), Lang.EN, 80))
    spoiled: tuple[tuple[str, Any], ...] = (
        ("exit", 7), ("version", 2), ("seconds", -1), ("verdicts", [{"code": "x"}]), ("findings", {}),
    )  # fmt: skip
    for key, value in spoiled:
        assert mistakes(SCHEMA, good | {key: value, "verb": "check"}), key
    assert mistakes(SCHEMA, {k: v for k, v in good.items() if k != "verb"})
    assert mistakes(SCHEMA, good | {"verb": "mesh", "coverage": None})


def test_the_verb_prints_the_schema() -> None:
    done = CliRunner().invoke(group, ["report", "--schema"])
    assert json.loads(done.stdout) == SCHEMA


def test_two_drawings_of_one_record_are_the_same_bytes() -> None:
    assert REPORT.draw(many(50), Lang.EN, 80) == REPORT.draw(many(50), Lang.ZH, 40)
