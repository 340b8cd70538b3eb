from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from guarded_job import eventually
from own_ports import own_base_port
from stubborn_job import tagged

from rankready.cli._app import group

TRAIN = Path(__file__).parents[2] / "src" / "rankready" / "lab" / "data" / "jobs" / "train.py"
YAML = f"""
cluster: one
generation: a1
topology: switch
servers:
  - {{name: server1, ssh: root@127.0.0.1, address: 127.0.0.1}}
parameter_plane: {{pool: 10.20.0.0/16}}
job: {{hccl_base_port: {own_base_port()}}}
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


def port() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def start(*words: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """A program of its own, as another terminal has it."""
    return subprocess.Popen(
        [sys.executable, "-m", "rankready", *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def said(*words: str) -> tuple[int, str]:
    with start(*words) as process:
        out = process.communicate(timeout=60)[0]
    return process.returncode, out


LONG = ["--nproc-per-node", "2", "--master-port", "PORT", str(TRAIN), "--steps", "100000", "--pause", "0.05"]


def long_job(*options: str) -> list[str]:
    return ["run", *options, *(port() if word == "PORT" else word for word in LONG)]


def job_of(home: Path) -> str:
    (folder,) = (home / ".rankready/jobs").iterdir()
    return folder.name


def test_another_terminal_sees_attaches_to_and_stops_a_detached_job(runner: CliRunner, tmp_path: Path) -> None:
    code, out = said(*long_job("--detach"))
    assert code == 0
    assert "RUNNING" in out
    job = job_of(tmp_path / "home")
    try:
        listed = json.loads(runner.invoke(group, ["ps", "--json"]).stdout)["jobs"]
        assert [(j["job"], j["phase"], j["detached"]) for j in listed] == [(job, "running", True)]
        with start("attach", "--rank", "0", "--from", "now", job) as attached:
            assert attached.stdout is not None
            while "step=" not in (line := attached.stdout.readline()):
                assert line
            attached.kill()  # a closed lid: nothing of the job may end by that
        assert tagged(job)
        code, out = said("stop", "--yes", "--grace", "1", job)
        assert code == 0
        assert "DONE" in out
        assert not tagged(job)
        assert "DONE" not in said("ps")[1]
    finally:
        runner.invoke(group, ["stop", "--yes", "--grace", "0", job])


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_a_client_that_is_gone_leaves_no_process(runner: CliRunner, tmp_path: Path, number: signal.Signals) -> None:
    with start(*long_job("--lease", "3", "--grace", "1")) as client:
        assert client.stdout is not None
        while "step=" not in (line := client.stdout.readline()):
            assert line
        job = job_of(tmp_path / "home")
        os.kill(client.pid, number)
        assert eventually(lambda: not tagged(job))
        client.stdout.read()
    assert f"{job}" in runner.invoke(group, ["ps"]).stdout


@pytest.mark.parametrize("verb", [["run"], ["sync"]])
def test_a_person_is_asked_and_may_say_no(runner: CliRunner, tmp_path: Path, verb: list[str]) -> None:
    ours, theirs = pty.openpty()
    try:
        with start(*verb, str(TRAIN), stdin=theirs) as process:
            os.write(ours, b"n\n")
            out = process.communicate(timeout=60)[0]
        assert process.returncode == 130
        assert "nothing was changed" in out
        assert not (tmp_path / "home/.rankready").exists()
    finally:
        os.close(ours)
        os.close(theirs)


def test_nobody_watches_a_detached_job_for_restarts(runner: CliRunner) -> None:
    done = runner.invoke(group, ["run", "--detach", "--max-restarts", "2", str(TRAIN)])
    assert (done.exit_code, "contradict" in done.stderr) == (2, True)
