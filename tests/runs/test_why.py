"""The verb: jobs of our own, archives, other layouts, hostile files, exit codes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
from log_bundles import Bundle
from log_cases import NAMES, unpacked
from log_guise_stories import STORIES as GUISE_STORIES
from log_guises import GUISES, Job
from log_stories import STORIES

from rankready.model.errors import PlanError
from rankready.runs.why import exit_of, explain_folder, why, why_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


Ends = Mapping[int, tuple[int | None, int | None, float]]


def job(folder: Path, outputs: dict[int, str], ends: Ends, cause: str = "rank_failed") -> Path:
    """A job of ours: two servers of two ranks, no Ascend logs at all."""
    hosts = {0: "server1", 1: "server1", 2: "server2", 3: "server2"}
    ranks = [{"rank": r, "host": h, "local_rank": r % 2, "npu": r % 2, "pid": 100 + r} for r, h in hosts.items()]
    listed = [{"host": f"server{n}", "ip": f"172.30.1.{n}", "clock_offset_s": 0.1} for n in (1, 2)]
    told = {"world_size": 4, "started": "2026-01-02T10:00:00.000+00:00", "hosts": listed, "ranks": ranks}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_text(json.dumps(told))
    rows = [
        {"rank": r, "server": hosts[r], "local_rank": r % 2, "exit": e, "signal": s, "ended": at}
        for r, (e, s, at) in ends.items()
    ]
    (folder / "result.json").write_text(json.dumps({"ranks": rows, "cause": cause}))
    for rank, text in outputs.items():
        path = folder / hosts[rank] / "train" / f"rank-{rank}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


TRACE = (
    'Traceback (most recent call last):\n  File "/w/train.py", line 432, in train\n    raise\nRuntimeError: no luck\n'
)
LEFT = "rank={} error: waiting for rank 3 (same server, ring inside): peer closed\n"
EPOCH = 1767348010.0


def test_the_rank_that_raised_is_named_and_the_others_waited(tmp_path: Path) -> None:
    outputs = {r: LEFT.format(r) for r in range(3)} | {3: TRACE}
    ends = {r: (1, None, EPOCH + 0.001 * r) for r in range(4)}
    found = explain_folder(job(tmp_path / "j", outputs, ends))
    assert found["outcome"] == "cause"
    assert found["cause"]["kind"] == "python_exception"
    assert found["cause"]["ranks"] == [3]
    assert "rank 3" in found["cause"]["title"].en
    assert {w["rank"] for w in found["waited"]} == {0, 1, 2}
    assert found["evidence"][0]["file"] == "server2/train/rank-3.log"
    assert found["evidence"][0]["line"] == 4


def test_a_killed_rank_is_a_suspect_without_a_kernel_line_and_a_cause_with_one(tmp_path: Path) -> None:
    outputs = {r: LEFT.format(r) for r in range(3)} | {3: "step=1 loss=0.5\n"}
    ends: Ends = {**dict.fromkeys(range(3), (1, None, EPOCH + 0.5)), 3: (None, 9, EPOCH)}
    folder = job(tmp_path / "j", outputs, ends)
    found = explain_folder(folder)
    assert (found["outcome"], found["cause"]["kind"], found["cause"]["ranks"]) == ("suspect", "unknown", [3])
    assert (found["cause"]["sign"], found["cause"]["code"]) == ("killed", "LOG075")
    (folder / "server2/os").mkdir()
    (folder / "server2/os/dmesg").write_text("[Fri Jan  2 10:00:10 2026] Out of memory: Killed process 103 (python3)\n")
    found = explain_folder(folder)
    assert (found["outcome"], found["cause"]["kind"], found["cause"]["ranks"]) == ("cause", "host_oom_kill", [3])


@pytest.mark.parametrize(("oom", "line", "told"), [(1, True, "sure"), (1, False, "sure"), (0, True, "")])
def test_a_kill_that_the_guard_counted_is_the_kernels(oom: int, line: bool, told: str, tmp_path: Path) -> None:  # noqa: FBT001  (a row)
    """The machine's number of the process is not the one that its server knows; without the count nothing ties them."""
    outputs = {r: LEFT.format(r) for r in range(3)} | {3: "step=1 loss=0.5\n"}
    ends: Ends = {**dict.fromkeys(range(3), (1, None, EPOCH + 0.5)), 3: (None, 9, EPOCH)}
    folder = job(tmp_path / "j", outputs, ends)
    result = json.loads((folder / "result.json").read_text())
    result["ranks"][-1]["oom"] = oom
    (folder / "result.json").write_text(json.dumps(result))
    if line:
        (folder / "server2/os").mkdir()
        killed = "[Fri Jan  2 10:00:10 2026] Memory cgroup out of memory: Killed process 90210 (python3) total-vm:9kB\n"
        (folder / "server2/os/dmesg").write_text(killed)
    found = explain_folder(folder)
    if not told:
        assert (found["outcome"], found["cause"]["sign"]) == ("suspect", "killed")
        return
    assert (found["cause"]["kind"], found["cause"]["ranks"], found["cause"]["certainty"]) == (
        "host_oom_kill",
        [3],
        told,
    )
    assert any("90210" in e["text"] for e in found["evidence"]) == line


def test_a_rank_that_hangs_is_where_all_waits_end(tmp_path: Path) -> None:
    outputs = {
        0: "rank=0 error: waiting for rank 2 (ring between servers): timed out\n",
        1: "rank=1 error: waiting for rank 0 (ring inside): timed out\n",
        2: "rank=2 error: waiting for rank 3 (ring inside): timed out\n",
        3: "step=1 loss=0.5\n",
    }
    ends: Ends = {r: (1, None, EPOCH + r * 0.01) for r in range(3)} | {3: (None, 9, EPOCH + 20)}
    found = explain_folder(job(tmp_path / "j", outputs, ends))
    assert found["outcome"] == "suspect"
    assert found["cause"]["ranks"] == [3]


def test_two_that_wait_for_each_other_are_a_link(tmp_path: Path) -> None:
    outputs = {
        0: "rank=0 error: waiting for rank 2 (ring between servers): timed out\n",
        1: "rank=1 error: waiting for rank 0 (ring inside): timed out\n",
        2: "rank=2 error: waiting for rank 0 (ring between servers): timed out\n",
        3: "rank=3 error: waiting for rank 2 (ring inside): timed out\n",
    }
    found = explain_folder(job(tmp_path / "j", outputs, dict.fromkeys(range(4), (1, None, EPOCH))))
    assert found["outcome"] == "unknown"
    assert found["cause"] is None
    assert found["suspects"][0]["kind"] == "link_between"
    assert found["suspects"][0]["ranks"] == [0, 2]


def test_a_job_that_ended_well_has_no_fault(tmp_path: Path) -> None:
    folder = job(tmp_path / "j", dict.fromkeys(range(4), "step=1\n"), dict.fromkeys(range(4), (0, None, EPOCH)))
    found = explain_folder(folder)
    assert found["outcome"] == "none"
    assert exit_of(found) == 0


def test_a_job_that_a_person_stopped_has_no_fault(tmp_path: Path) -> None:
    ends = dict.fromkeys(range(4), (None, 15, EPOCH))
    folder = job(tmp_path / "j", dict.fromkeys(range(4), "step=1\n"), ends, cause="interrupted")
    assert explain_folder(folder)["outcome"] == "none"


def test_nothing_read_is_not_nothing_wrong(tmp_path: Path) -> None:
    found = explain_folder(job(tmp_path / "j", {}, {}))
    assert found["outcome"] == "unknown"
    assert exit_of(found) == 3
    (tmp_path / "empty").mkdir()
    assert exit_of(explain_folder(tmp_path / "empty")) == 3


async def test_a_record_says_how_it_went(tmp_path: Path) -> None:
    record = await why(unpacked("01_oom_killed_rank", tmp_path))
    assert (record.verb, record.exit, record.servers, record.devices) == ("why", 1, 2, 8)
    record = await why(unpacked("16_clean_run", tmp_path))
    assert record.exit == 0


async def test_an_archive_is_read_like_its_folder(tmp_path: Path) -> None:
    folder = unpacked("13_python_exception", tmp_path)
    for kind in ("", "gz", "xz"):
        packed = tmp_path / f"b.tar.{kind}"
        with tarfile.open(packed, f"w:{kind}") as tar:  # type: ignore[call-overload]
            tar.add(folder, arcname="bundle")
        record = await why_path(packed, lambda _: None)
        assert record.extra["cause"]["ranks"] == [6]
    (tmp_path / "no.tar").write_bytes(b"no archive")
    with pytest.raises(PlanError):
        await why_path(tmp_path / "no.tar", lambda _: None)


def test_the_vendors_collection_layout_is_read(tmp_path: Path) -> None:
    """process_log/, dmesg and rank files beside it, no record of the launcher."""
    bundle = Bundle(tmp_path / "a")
    truth = STORIES["oom"](bundle)
    folder = bundle.write()
    for host in ("n11", "n12"):
        (folder / host / "ascend/log").rename(folder / host / "process_log")
        (folder / host / "os/dmesg").rename(folder / host / "dmesg")
        for path in (folder / host / "train").iterdir():
            path.rename(folder / host / path.name)
    (folder / "job.json").unlink()
    found = explain_folder(folder)
    assert found["cause"]["kind"] == "host_oom_kill"
    assert found["cause"]["servers"] == list(truth.hosts)


def zeros(path: Path, _: bytes) -> None:
    path.touch()
    os.truncate(path, 64 << 20)


def behind_a_long_line(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"[ERROR] x" * (1 << 17))
        file.write(b"\n" + data)


ODD: dict[str, Callable[[Path, bytes], object]] = {
    "empty": lambda path, _: path.touch(),
    "a folder": lambda path, _: path.mkdir(),
    "a loop": lambda path, _: path.symlink_to(path),
    "a pipe": lambda path, _: os.mkfifo(path),
    "zeros": zeros,
    "two bytes a character": lambda path, data: path.write_bytes(data.decode(errors="replace").encode("utf-16")),
    "the end of a line of 100 MB": behind_a_long_line,
}
BOUND = 400 << 20  # bytes that a process may have of its own; a mapped file is none of them


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("which", ["*/train/rank-5.log", "*/ascend/log/debug/plog/plog-2000*", "node02/os/dmesg"])
def test_whatever_stands_in_a_files_place_is_survived_in_bounded_memory(kind: str, which: str, tmp_path: Path) -> None:
    """The test's own time limit is the bound of time."""
    folder = unpacked("01_oom_killed_rank", tmp_path)
    path = next(folder.glob(which))
    data = path.read_bytes()
    path.unlink()
    ODD[kind](path, data)
    bound = f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({BOUND}, {BOUND}))"
    program = f"{bound}; from rankready.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "why", "--json", str(folder)], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    assert done.returncode in (1, 3), done.stderr
    assert found["cause"] is None or found["cause"]["servers"] == ["node02"]


async def test_a_tar_of_the_vendors_layout_is_read(tmp_path: Path) -> None:
    """A folder a server; rank files and the kernel's log beside process_log and device_log; no launcher's record."""
    job = Job(tmp_path / "b", GUISES["four of two, 8.2, msrun, no task detail"])
    truth = GUISE_STORIES["ecc"](job)
    folder = job.write()
    for host in job.guise.hosts:
        (folder / host / "ascend/log").rename(folder / host / "process_log")
        for path in (*(folder / host / "os").iterdir(), *(folder / host / "train").iterdir()):
            path.rename(folder / host / path.name.replace("worker_", "worker-"))
    for name in ("job.json", "collect.json"):
        (folder / name).unlink()
    packed = tmp_path / "collected.tar"
    with tarfile.open(packed, "w") as tar:
        tar.add(folder, arcname=".")
    record = await why_path(packed, lambda _: None)
    assert record.extra["cause"]["kind"] == "hbm_ecc"
    assert record.extra["cause"]["servers"] == truth["root"]["hosts"]
    assert record.extra["cause"]["ranks"] == truth["root"]["ranks"]


@pytest.mark.parametrize("seed", range(8))
def test_spoiled_files_never_crash_it(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)  # noqa: S311  (noise, no secret)
    folder = unpacked(rng.choice(NAMES), tmp_path)
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    for path in rng.sample(files, len(files) // 2):
        data = path.read_bytes()
        match rng.randrange(6):
            case 0:
                path.write_bytes(data[: rng.randrange(len(data) + 1)])
            case 1:
                path.write_bytes(rng.randbytes(5000) + data)
            case 2:
                path.write_bytes(data.replace(b"\n", b" "))
            case 3:
                path.write_bytes(data.decode().encode("utf-16"))
            case 4:
                path.write_bytes(data + b"[ERROR] HCCL(1,x):" + b"rank[" * 400_000)
            case 5:
                at = rng.randrange(len(data) + 1)
                path.write_bytes(data[:at] + b"\0\0\x1b[31m\xff" + data[at:])
    found = explain_folder(folder)
    assert found["outcome"] in ("cause", "suspect", "unknown", "none")
