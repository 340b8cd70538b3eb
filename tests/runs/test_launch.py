from __future__ import annotations

import shlex
import socket
from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster
from train_site import TRAIN, options, train_site

from rankready.model.errors import PlanError
from rankready.model.finding import Outcome
from rankready.runs.job_spec import Asked
from rankready.runs.launch import dry_run, launch, launcher_named

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_script_from_here_is_brought_along_and_run(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    lines: list[str] = []
    record = await launch(site, Asked(argv=(str(TRAIN), "--steps", "2"), count=2), options(lines))
    assert (record.verb, record.exit, record.extra["cause"]) == ("run", 0, "done")
    assert (tmp_path / "servers/server2/.rankready/work/lab/train.py").read_bytes() == TRAIN.read_bytes()
    assert any(x.startswith("[0] step=2") for x in lines)


async def test_nothing_starts_when_the_look_finds_something(tmp_path: Path) -> None:
    site, transport, said = train_site(tmp_path)
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        asked = Asked(argv=(str(TRAIN),), count=2, master_port=sock.getsockname()[1])
        record = await launch(site, asked, options([]))
    assert (record.exit, record.extra["cause"], record.extra["job"]) == (1, "not_started", None)
    assert [v.code for v in record.verdicts if v.outcome is Outcome.FAIL] == ["JOB006"]
    assert not (transport.root / "server1/.rankready/jobs").exists()
    assert any("JOB006" in t.en for t in said)


RANKS_FIXED = """
import os
import torch

os.environ["RANK"] = "0"
"""


async def test_a_script_that_is_sure_to_fail_on_several_servers_is_not_started(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    script = tmp_path / "fixed.py"
    script.write_text(RANKS_FIXED)
    record = await launch(site, Asked(argv=(str(script),), count=1), options([]))
    assert (record.exit, record.extra["cause"]) == (1, "not_started")
    assert [(v.code, v.place.device) for v in record.verdicts if v.outcome is Outcome.FAIL] == [("JOB104", 5)]
    script.write_text(RANKS_FIXED.replace("import torch", "import time"))
    forced = await launch(site, Asked(argv=(str(script),), count=1), options([], force=True))
    assert (forced.exit, forced.extra["cause"]) == (0, "done")
    assert any("warning" in t.en and "JOB104" in t.en for t in said)


async def test_an_unreachable_server_makes_it_incomplete(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, dead=("server2",))
    record = await launch(site, Asked(argv=(str(TRAIN),), count=2), options([]))
    assert record.exit == 3


FLAKY = """
import os, sys
sys.exit(0 if os.environ["TORCHELASTIC_RESTART_COUNT"] == "1" else 5)
"""


async def test_a_failed_job_is_started_again_as_a_job_of_its_own(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path, servers=1)
    script = tmp_path / "flaky.py"
    script.write_text(FLAKY)
    asked = Asked(argv=(str(script),), count=1)
    record = await launch(site, asked, options([], max_restarts=3))
    assert record.exit == 0
    (before,) = record.extra["restarts"]
    assert (before["cause"], before["first_failure"]["exit"]) == ("rank_failed", 5)
    assert record.extra["job"] == before["job"] + "-r1"
    assert any("starting again, 1 of at most 3" in t.en for t in said)


async def test_restarts_end_at_their_limit_and_are_all_told(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, servers=1)
    script = tmp_path / "bad.py"
    script.write_text("raise SystemExit(4)")
    record = await launch(site, Asked(argv=(str(script),), count=1), options([], max_restarts=1))
    assert (record.exit, len(record.extra["restarts"])) == (1, 1)
    once = await launch(site, Asked(argv=(str(script),), count=1), options([]))
    assert (once.exit, "restarts" in once.extra) == (1, False)


def test_a_dry_run_says_each_process_as_a_line_that_a_shell_reads_the_same() -> None:
    lines: list[str] = []
    asked = Asked(argv=("train.py", "--name", "a b"), count=2, env={"X": "$HOME 'q'"}, sync=False)
    record = dry_run(make_cluster(2), asked, options(lines))
    assert [line.split(":")[0] for line in lines] == ["server1", "server1", "server2", "server2"]
    words = shlex.split(lines[3].partition(": ")[2])
    assert words[-4:] == ["python3", "train.py", "--name", "a b"]
    assert {"RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=4", "X=$HOME 'q'"} <= set(words)
    shown = record.extra["servers_run"][1]["processes"][1]
    assert (shown["rank"], shown["env"]["X"]) == (3, "$HOME 'q'")


def test_an_unknown_launcher_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(PlanError, match="msrun, ranks, torchrun"):
        launcher_named("mpirun")
