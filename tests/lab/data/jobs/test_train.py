"""The demo trainer on loopback: it learns, it checks its sums, it names whom it waited for."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

TRAIN = Path(__file__).parents[4] / "src" / "rankready" / "lab" / "data" / "jobs" / "train.py"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class Ranks:
    """All ranks of one job as processes of this machine."""

    def __init__(self, world: int, local_world: int, *args: str, absent: tuple[int, ...] = ()) -> None:
        port = str(free_port())
        self.processes = {
            rank: subprocess.Popen(
                [sys.executable, "-S", str(TRAIN), "--backend", "stdlib", "--timeout", "20", *args],
                env={
                    "PATH": os.environ["PATH"],
                    "RANK": str(rank),
                    "WORLD_SIZE": str(world),
                    "LOCAL_RANK": str(rank % local_world),
                    "LOCAL_WORLD_SIZE": str(local_world),
                    "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": port,
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for rank in range(world)
            if rank not in absent
        }

    def finish(self) -> dict[int, tuple[int, str, str]]:
        found = {}
        for rank, process in self.processes.items():
            out, err = process.communicate(timeout=60)
            found[rank] = (process.returncode, out, err)
        return found


def losses(out: str) -> list[float]:
    return [float(x) for x in re.findall(r"step=\d+ loss=([\d.]+)", out)]


@pytest.mark.parametrize(("world", "local"), [(1, 1), (4, 4), (4, 2), (6, 2), (3, 1)])
def test_it_learns_and_its_sums_are_right(world: int, local: int) -> None:
    done = Ranks(world, local, "--steps", "8").finish()
    assert {code for code, _, _ in done.values()} == {0}
    want = world * (world + 1) // 2
    for rank, (_, out, _) in done.items():
        line = f"rank={rank} local={rank % local} world={world} backend=stdlib sum={want} want={want} ok=True t="
        assert out.startswith(line)
    falling = losses(done[0][1])
    assert falling[0] == pytest.approx(0.6931)
    assert falling == sorted(falling, reverse=True)
    assert falling[-1] < falling[0] - 0.1
    assert not any(losses(out) for rank, (_, out, _) in done.items() if rank)


def test_a_wrong_sum_is_an_error_everywhere() -> None:
    done = Ranks(4, 2, "--wrong-rank", "3").finish()
    assert {code for code, _, _ in done.values()} == {1}
    assert all("sum=11 want=10 ok=False" in out for _, out, _ in done.values())


def test_a_killed_rank_fails_the_others_and_they_name_their_peer() -> None:
    job = Ranks(4, 2, "--steps", "100000")
    assert job.processes[0].stdout is not None
    while not job.processes[0].stdout.readline().startswith("step=2"):
        assert job.processes[0].poll() is None
    job.processes[3].kill()
    done = job.finish()
    assert {done[r][0] for r in (0, 1, 2)} == {1}
    for rank in (0, 1, 2):
        assert re.search(rf"rank={rank} error: (waiting for|sending to) rank [0-3] ", done[rank][2])
    assert "rank 3 (same server, ring inside)" in done[2][2]
    assert "rank 3 " in done[1][2]
    assert "ring between servers, device 1" in done[1][2]


def test_a_rank_that_fails_by_itself_shows_its_own_traceback() -> None:
    done = Ranks(2, 2, "--fail-rank", "1", "--fail-step", "2").finish()
    assert "RuntimeError: rank 1 fails at step 2" in done[1][2]
    assert "rank=0 error:" in done[0][2]


def test_a_rank_that_never_comes_is_named_by_the_master() -> None:
    done = Ranks(3, 3, "--timeout", "1", absent=(2,)).finish()
    assert "waiting for ranks 2 (rendezvous)" in done[0][2]
    assert {code for code, _, _ in done.values()} == {1}


def run_alone(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", str(TRAIN), *args], env=environ, capture_output=True, text=True, check=False, timeout=60
    )


ALONE = {
    "RANK": "0",
    "WORLD_SIZE": "1",
    "LOCAL_RANK": "0",
    "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29555",
}


def test_missing_variables_are_named() -> None:
    done = run_alone(**{k: v for k, v in ALONE.items() if k not in ("RANK", "MASTER_PORT")})
    assert done.returncode == 2
    assert "RANK, MASTER_PORT" in done.stderr


def test_hccl_without_a_device_is_refused_and_never_replaced() -> None:
    done = run_alone("--backend", "hccl", **ALONE)
    assert done.returncode == 1
    assert "hccl was asked for" in done.stderr
    assert "ok=" not in done.stdout


def test_an_unknown_option_shows_the_usage() -> None:
    done = run_alone("--stepz", "3", **ALONE)
    assert (done.returncode, "usage:" in done.stderr) == (2, True)


def test_ranks_that_do_not_divide_into_servers_are_refused() -> None:
    done = run_alone(**{**ALONE, "WORLD_SIZE": "3", "LOCAL_WORLD_SIZE": "2"})
    assert (done.returncode, "don't divide" in done.stderr) == (2, True)
