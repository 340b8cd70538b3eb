"""A torch job over gloo on 2 servers x 4 ranks, by both launchers. It needs an interpreter with torch in it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lab_stage import stage

import rankready.lab

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab_stage import Stage

TRAIN = rankready.lab.__path__[0] + "/data/jobs/train.py"
WORLD = 8


def _reason() -> str:
    python = os.environ.get("RANKREADY_TORCH_PYTHON", "")
    if not python:
        return (
            "RANKREADY_TORCH_PYTHON names no interpreter with torch; CI=true ./dev test makes one where pip has torch"
        )
    # the name of the package is enough: importing it takes a second
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    if not Path(python).exists() or subprocess.run([python, "-c", look], check=False).returncode:
        return f"RANKREADY_TORCH_PYTHON={python}: no torch there"
    return ""


pytestmark = [pytest.mark.namespaces, pytest.mark.skipif(bool(_reason()), reason=_reason() or "torch is here")]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("lab") / "lab") as made:
        yield made


def job(made: Stage, launcher: str, *args: str) -> tuple[int, dict[str, object], str]:
    python = os.environ["RANKREADY_TORCH_PYTHON"]
    options = ("--nproc-per-node", "4", "--launcher", launcher, "--python", python, "--json")
    code, said, err = made.verb(
        "run", *options, TRAIN, "--backend", "gloo", "--steps", "3", "--pause", "1", "--timeout", "60", *args
    )
    return code, said, err


@pytest.mark.parametrize("launcher", ["ranks", "torchrun"])
def test_all_ranks_meet_and_sum_and_learn(standing: Stage, launcher: str) -> None:
    code, said, err = job(standing, launcher)
    assert code == 0, err
    met = re.findall(r"rank=(\d) local=(\d) world=8 backend=gloo sum=36 want=36 ok=True", err)
    assert sorted((int(rank), int(local)) for rank, local in met) == [(r, r % 4) for r in range(WORLD)]
    losses = [float(x) for x in re.findall(r"step=\d loss=([\d.]+)", err)]
    assert len(losses) == 3
    assert losses == sorted(losses, reverse=True)
    assert said["first_failure"] is None
    met_at = said["init"]
    assert isinstance(met_at, dict)
    assert (met_at["reached"], met_at["missing"]) == (WORLD, [])


def test_a_rank_that_fails_under_torchrun_ends_every_server(standing: Stage) -> None:
    code, said, err = job(standing, "torchrun", "--fail-rank", "5", "--fail-step", "2")
    assert code == 1
    assert "RuntimeError: rank 5 fails at step 2" in err
    first = said["first_failure"]
    assert isinstance(first, dict)
    assert first["server"] == "server2"
