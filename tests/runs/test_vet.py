"""What is read for a script, and what becomes of it on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankready.cli._app import group
from rankready.model.errors import ConfigError
from rankready.runs.vet import collect, vet_script

SCRIPTS = Path(__file__).parents[1] / "diagnose" / "vet" / "scripts"


def test_modules_of_the_scripts_folder_are_read_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "pkg" / "deep").mkdir(parents=True)
    (tmp_path / "train.py").write_text("import os, helper\nfrom pkg.deep import thing\nfrom pkg import part\n")
    (tmp_path / "helper.py").write_text("import train\n")
    (tmp_path / "unused.py").write_text("this is never read (\n")
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "part.py").write_text("from .deep import thing\nfrom . import other\n")
    (tmp_path / "pkg" / "other.py").write_text("")
    (tmp_path / "pkg" / "deep" / "thing.py").write_text("")
    (tmp_path / "os.py").write_text("")
    found = [str(Path(p).relative_to(tmp_path)) for p in collect(tmp_path / "train.py")]
    assert found[0] == "train.py"
    assert sorted(found) == [
        "helper.py", "os.py", "pkg/__init__.py", "pkg/deep/thing.py", "pkg/other.py", "pkg/part.py", "train.py",
    ]  # fmt: skip


def test_nothing_is_run(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nimport helper\n")
    (tmp_path / "helper.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    vet_script(script)
    assert not (tmp_path / "ran").exists()


def test_a_folder_or_a_missing_file_is_a_mistake_of_the_users(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nosuch.py"):
        with pytest.raises(ConfigError):
            vet_script(path)


def test_exit_codes_and_json() -> None:
    runner = CliRunner()
    good, bad = SCRIPTS / "good" / "ddp_env.py", SCRIPTS / "bad" / "fixed_device.py"
    assert runner.invoke(group, ["vet", str(good)]).exit_code == 0
    done = runner.invoke(group, ["vet", str(bad), "--json"])
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert [f["code"] for f in told["findings"]] == ["JOB122"]
    assert told["findings"][0]["place"].endswith("fixed_device.py:6")
    warned = SCRIPTS / "bad" / "no_set_epoch.py"
    assert runner.invoke(group, ["vet", str(warned)]).exit_code == 0
    assert runner.invoke(group, ["vet", str(warned), "--strict"]).exit_code == 1
    assert runner.invoke(group, ["vet", "nosuch.py"]).exit_code == 2


def test_a_record_keeps_the_line() -> None:
    from rankready.records._places import read_place, write_place

    record = vet_script(SCRIPTS / "bad" / "fixed_device.py")
    place = record.verdicts[0].place
    assert place.device == 6
    assert read_place(write_place(place)) == place
