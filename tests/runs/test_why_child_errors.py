"""torchrun's error.json: the failing rank's exception and its moment, and never one of an earlier try."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pytest
from log_bundles import T0, Bundle

from rankready.runs import why_select
from rankready.runs.why import explain_folder
from rankready.runs.why_select import Sieve, select
from rankready.runs.why_selected import SELECTED

if TYPE_CHECKING:
    from pathlib import Path

START = 1767348000  # 2026-01-02T10:00:00Z
HOSTS = {0: "server1", 1: "server1", 2: "server2", 3: "server2"}
STACK = 'Traceback (most recent call last):\n  File "/w/data.py", line 77, in load\n    x()\n{}\n'
KEY = STACK.format("KeyError: 'labels'")
LATER = STACK.format("RuntimeError: NPU function error: call AclrtSynchronizeDevice failed, error code is 507048")


def child_error(stack: str, at: object) -> str:
    last = stack.strip().splitlines()[-1]
    return json.dumps({"message": {"message": last, "extraInfo": {"py_callstack": stack, "timestamp": str(at)}}})


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def job(folder: Path, ends: dict[int, tuple[int, float]]) -> Path:
    """A job of ours without any rank's words: two servers of two ranks, times in UTC."""
    ranks = [{"rank": r, "host": h, "local_rank": r % 2, "npu": r % 2, "pid": 100 + r} for r, h in HOSTS.items()]
    hosts = [{"host": f"server{n}", "ip": f"172.30.1.{n}", "clock_offset_s": 0.0} for n in (1, 2)]
    told = {"world_size": 4, "started": "2026-01-02T10:00:00.000+00:00", "hosts": hosts, "ranks": ranks}
    written(folder / "job.json", json.dumps(told))
    rows = [
        {"rank": r, "server": HOSTS[r], "local_rank": r % 2, "exit": code, "ended": START + at}
        for r, (code, at) in ends.items()
    ]
    written(folder / "result.json", json.dumps({"ranks": rows, "cause": "rank_failed"}))
    return folder


def file_of(rank: int, attempt: int = 0, run: str = "none_ab12") -> str:
    return f"{HOSTS[rank]}/train/{run}/attempt_{attempt}/{rank % 2}/error.json"


ALL = dict.fromkeys(range(4), (1, 100.0))


def test_the_one_that_raised_first_is_named_by_what_torchruns_children_wrote(tmp_path: Path) -> None:
    folder = job(tmp_path, ALL)
    for rank in (0, 1, 2):
        written(folder / file_of(rank), child_error(LATER, START + 90))
    assert explain_folder(folder)["outcome"] != "cause"  # these only say that a call failed
    written(folder / file_of(3), child_error(KEY, START + 40))
    found = explain_folder(folder)
    assert (found["outcome"], found["cause"]["kind"]) == ("cause", "python_exception")
    assert (found["cause"]["ranks"], found["cause"]["codes"][0]) == ([3], "KeyError")
    assert found["cause"]["time"] == "2026-01-02T10:00:40"
    assert "/w/data.py:77" in found["cause"]["title"].en
    first = found["evidence"][0]
    assert (first["file"], first["line"], first["text"]) == (file_of(3), 1, "KeyError: 'labels'")


def test_the_same_from_a_servers_own_selection(tmp_path: Path) -> None:
    """For a job of this machine the server unfolds the file, with the stage that runs here too."""
    folder = job(tmp_path / "j", ALL)
    away = written(tmp_path / "away" / "error.json", child_error(KEY, START + 40))
    read = select(away, Sieve(anywhere=()))
    name = file_of(3).removeprefix("server2/")
    item = {"file": name, "size": read.size, "notes": list(read.notes), "lines": read.lines}
    written(folder / "server2" / SELECTED, json.dumps({"files": [item]}))
    found = explain_folder(folder)
    assert (found["cause"]["kind"], found["cause"]["ranks"]) == ("python_exception", [3])
    assert found["cause"]["time"] == "2026-01-02T10:00:40"


def test_of_two_that_raised_the_earlier_is_named(tmp_path: Path) -> None:
    folder = job(tmp_path, {})
    other = STACK.format("ValueError: no")
    for early, late in ((1, 2), (2, 1)):
        written(folder / file_of(early), child_error(KEY, START + 40))
        written(folder / file_of(late), child_error(other, START + 60))
        assert explain_folder(folder)["cause"]["ranks"] == [early]


@pytest.mark.parametrize(
    "where", ["an earlier attempt", "before the job", "a rank that ended well", "long after its end"]
)
def test_a_file_of_another_try_blames_nobody(where: str, tmp_path: Path) -> None:
    ends = {**ALL, 2: (0, 100.0)} if where == "a rank that ended well" else ALL
    folder = job(tmp_path, ends)
    at = {"before the job": -4000, "long after its end": 4000}.get(where, 40)
    written(folder / file_of(2), child_error(KEY, START + at))
    if where == "an earlier attempt":
        assert explain_folder(folder)["cause"]["ranks"] == [2]
        written(folder / file_of(2, attempt=1).replace("error.json", "stderr.log"), "step=9 loss=1\n")
    found = explain_folder(folder)
    assert found["cause"] is None or found["cause"]["kind"] != "python_exception"
    if where == "an earlier attempt":
        assert "server2: train/none_ab12: attempt_0 left out: a later attempt followed" in found["not_checked"]


def test_of_several_runs_none_is_believed(tmp_path: Path) -> None:
    folder = job(tmp_path, ALL)
    written(folder / file_of(2), child_error(KEY, START + 40))
    written(folder / file_of(3, run="none_cd34"), child_error(KEY, START + 50))
    found = explain_folder(folder)
    assert found["cause"] is None or found["cause"]["kind"] != "python_exception"
    assert sum("several runs" in n for n in found["not_checked"]) == 2


def test_an_exception_that_its_own_output_shows_as_a_consequence_stays_one(tmp_path: Path) -> None:
    """The output says that the peer was gone before the script raised; the file has only what it raised."""
    folder = job(tmp_path, {})
    raised = STACK.format("RuntimeError: step failed")
    written(folder / file_of(1), child_error(raised, START + 40))
    assert explain_folder(folder)["cause"]["ranks"] == [1]
    gone = STACK.format("ConnectionResetError: [Errno 104] Connection reset by peer")
    for text in (gone + "\n" + raised, gone):
        written(folder / "server1/train/rank-1.log", text)
        found = explain_folder(folder)
        assert found["cause"] is None or found["cause"]["ranks"] != [1]


def test_a_line_of_the_output_takes_over_the_moment(tmp_path: Path) -> None:
    folder = job(tmp_path, {})
    written(folder / file_of(3), child_error(KEY, START + 40))
    written(folder / "server2/train/rank-3.log", KEY)
    found = explain_folder(folder)
    assert found["cause"]["time"] == "2026-01-02T10:00:40"
    assert [e["file"] for e in found["evidence"]] == ["server2/train/rank-3.log"]


@pytest.mark.parametrize("zone", [0, 8 * 3600, -5 * 3600 + 1800])
def test_without_a_record_the_launchers_summary_tells_rank_and_zone(zone: int, tmp_path: Path) -> None:
    bundle = Bundle(tmp_path)
    bundle.start()
    bundle.train(100)
    failed = bundle.ranks[5]
    bundle.exited(failed, 110, 1)
    bundle.write()
    record = json.loads((tmp_path / "job.json").read_text())
    for rank in record["ranks"]:
        del rank["local_rank"]
    written(tmp_path / "job.json", json.dumps(record))
    epoch = int(T0.replace(tzinfo=dt.UTC).timestamp()) + 110 - zone
    path = tmp_path / failed.host / f"train/none_x/attempt_0/{failed.rank % 4}/error.json"
    written(path, child_error(KEY, epoch))
    found = explain_folder(tmp_path)
    assert (found["cause"]["kind"], found["cause"]["ranks"]) == ("python_exception", [5])
    assert found["cause"]["time"] == "2025-12-03T14:01:50"


ODD: dict[str, Any] = {
    "empty": "",
    "cut": child_error(KEY, START)[:60],
    "a list": "[]",
    "deep": "[" * 100_000,
    "no text": '{"message": null}',
    "a text": json.dumps({"message": "KeyError: 'labels'"}),
    "odd moment": child_error(KEY, "9" * 400),
    "no moment": child_error(KEY, "soon"),
    "half a character": json.dumps(
        {"message": {"message": "x", "extraInfo": {"py_callstack": "\ud800", "timestamp": 1}}}
    ),
    "a long line": child_error(STACK.format("KeyError: " + "x" * 100_000), START + 40),
}


@pytest.mark.parametrize("kind", ODD)
def test_whatever_stands_in_the_file_is_survived(kind: str, tmp_path: Path) -> None:
    folder = job(tmp_path, {})
    path = written(folder / file_of(3), "")
    path.write_bytes(ODD[kind].encode(errors="surrogatepass"))
    found = explain_folder(folder)
    raised = kind in ("a text", "odd moment", "no moment", "a long line")
    assert (found["cause"] is not None and found["cause"]["ranks"] == [3]) == raised
    if kind in ("cut", "deep"):
        assert f"server2: {file_of(3).removeprefix('server2/')}: holds no JSON, or was cut" in found["not_checked"]
    json.dumps(found["evidence"]).encode()


def test_an_exception_longer_than_a_line_of_a_log_is_read_whole(tmp_path: Path) -> None:
    deep = "".join(f'  File "/w/f{n}.py", line {n}, in f\n    f()\n' for n in range(300))
    stack = f"Traceback (most recent call last):\n{deep}KeyError: 'labels'\n"
    path = written(tmp_path / "error.json", child_error(stack, START))
    read = select(path, Sieve(anywhere=()))
    assert path.stat().st_size > why_select.LINE
    assert [text for _, _, text in read.lines][-2] == "KeyError: 'labels'"
    assert {number for _, number, _ in read.lines} == {1}


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize(("waited", "named"), [("10:00:40.900", False), ("10:00:43.000", True)])
def test_a_moment_cut_to_seconds_comes_before_nothing_of_its_second(
    waited: str,
    named: bool,  # noqa: FBT001  (a row)
    printed: bool,  # noqa: FBT001  (with and without the rank's own output)
    tmp_path: Path,
) -> None:
    """The rank said that it had waited in vain at 40.9 s; what it raised then is told as of 40 s."""
    folder = job(tmp_path, {})
    written(folder / file_of(3), child_error(KEY, START + 40))
    if printed:
        written(folder / "server2/train/rank-3.log", KEY)
    head = f"[ERROR] HCCL(103,python3):2026-01-02-{waited}.000 [f.cc:1][103]"
    line = f"{head}[TaskExecStage][Timeout][Host]Task run failed, "
    text = f"{line}base information is streamID:[5], taskID[27], taskType[Notify Wait], tag[AllReduce_g], AlgType(x).\n"
    written(folder / "server2/ascend/log/debug/plog/plog-103_20260102100001000.log", text)
    found = explain_folder(folder)
    assert (found["cause"] is not None and found["cause"]["kind"] == "python_exception") == named
