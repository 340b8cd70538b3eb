from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rankready.cli._app import group

TRAIN = Path(__file__).parents[2] / "src" / "rankready" / "lab" / "data" / "jobs" / "train.py"
YAML = """
cluster: one
generation: a1
topology: switch
servers:
  - {name: server1, ssh: root@127.0.0.1, address: 127.0.0.1}
parameter_plane: {pool: 10.20.0.0/16}
"""


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    (tmp_path / "cluster.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RANKREADY_TRANSPORT", "local")
    (tmp_path / "home").mkdir()
    return CliRunner()


def test_a_dry_run_shows_every_process_and_starts_none(runner: CliRunner, tmp_path: Path) -> None:
    done = runner.invoke(group, ["run", "--dry-run", "--devices", "4-7", str(TRAIN), "--steps", "3"])
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.endswith("python3 train.py --steps 3") for line in lines)
    assert "ASCEND_RT_VISIBLE_DEVICES=4,5,6,7 " in lines[0]
    assert not (tmp_path / "home/.rankready").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--devices", "4-x"], "expected a list"),
        (["--env", "NOPE"], "expected NAME=VALUE"),
        (["--devices", "0,1", "--nproc-per-node", "4"], "contradict"),
        (["--nproc-per-node", "3"], "1, 2, 4 or 8"),
        (["--launcher", "mpirun"], "no launcher"),
    ],
)
def test_what_can_not_be_meant_is_a_usage_error(runner: CliRunner, words: list[str], says: str) -> None:
    done = runner.invoke(group, ["run", "--dry-run", *words, "train.py"])
    assert done.exit_code == 2
    assert says in done.stderr


def test_json_is_one_object_on_stdout_and_lines_go_to_stderr(runner: CliRunner) -> None:
    done = runner.invoke(
        group, ["run", "--json", "--nproc-per-node", "2", "--master-port", "29733", str(TRAIN), "--steps", "2"]
    )
    found = json.loads(done.stdout)
    assert (done.exit_code, found["exit"], found["cause"], len(found["ranks"])) == (0, 0, "done", 2)
    assert "[0] step=2" in done.stderr


def test_ps_stop_and_logs_without_any_job(runner: CliRunner) -> None:
    assert runner.invoke(group, ["ps"]).exit_code == 0
    assert runner.invoke(group, ["stop", "nope!", "--yes"]).exit_code == 2
    assert runner.invoke(group, ["stop", "20260101-000000-abcdef01"]).exit_code == 2  # nobody said yes
    assert "20260101" in runner.invoke(group, ["stop", "20260101-000000-abcdef01", "--dry-run"]).stdout
    assert runner.invoke(group, ["attach", "20260101-000000-abcdef01"]).exit_code == 2
