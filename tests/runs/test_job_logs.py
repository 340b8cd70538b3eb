from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from train_site import LAUNCH, options, train_site, train_spec

from rankready.model.errors import PlanError
from rankready.runs.job import run
from rankready.runs.job_logs import Bounds, logs

if TYPE_CHECKING:
    from fake_fleet import FolderTransport


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder first in every server's PATH, with a dmesg that answers."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "dmesg").write_text("#!/bin/sh\necho '[Tue Nov 18 09:00:22 2025] link up'\n")
    (folder / "dmesg").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def put(transport: FolderTransport, server: str, name: str, text: str) -> None:
    path = transport.root / server / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_all_logs_of_a_job_lie_in_one_folder_a_server(tmp_path: Path, tools: Path) -> None:
    site, transport, _ = train_site(tmp_path)
    spec = train_spec(site, "--steps", "1")
    await run(site, spec, LAUNCH, options([]))
    own = f".rankready/jobs/{spec.job}/ascend/log/debug/plog/plog-1_2.log"
    put(transport, "server1", own, "[ERROR] HCCL\n")
    put(transport, "server2", "ascend/log/run/plog/plog-3_4.log", "[INFO]\n")
    record = await logs(site, None, tmp_path / "out")
    assert (record.exit, record.extra["job"], record.extra["gaps"]) == (0, spec.job, [])
    found = sorted(str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert "server1/ascend/log/debug/plog/plog-1_2.log" in found
    assert "server2/ascend/log/run/plog/plog-3_4.log" in found
    assert {"server1/train/rank-0.log", "server2/train/rank-3.log", "server1/os/dmesg", "job.json"} <= set(found)
    told = json.loads((tmp_path / "out/collect.json").read_text())
    assert {s: (t["reachable"], t["gaps"]) for s, t in told.items()} == {"server1": (True, []), "server2": (True, [])}


async def test_what_is_denied_or_cut_is_listed_and_is_exit_1(tmp_path: Path, tools: Path) -> None:
    (tools / "dmesg").write_text(
        "#!/bin/sh\necho 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1\n"
    )
    site, transport, said = train_site(tmp_path, servers=1)
    put(transport, "server1", "ascend/log/debug/plog/plog-1_2.log", "x" * 5000)
    record = await logs(site, None, tmp_path / "out", Bounds(server=100_000, file=1000))
    assert record.exit == 1
    gaps = {g["what"]: g["reason"] for g in record.extra["gaps"]}
    assert "Operation not permitted" in gaps["os/dmesg"]
    assert gaps["ascend/log/debug/plog/plog-1_2.log"] == "cut: the last 1000 of 5000 bytes"
    assert (tmp_path / "out/server1/ascend/log/debug/plog/plog-1_2.log").stat().st_size == 1000
    assert len(said) == 2


async def test_a_server_that_can_not_be_reached_is_listed(tmp_path: Path, tools: Path) -> None:
    site, _, _ = train_site(tmp_path, dead=("server2",))
    record = await logs(site, None, tmp_path / "out")
    assert record.exit == 1
    assert record.extra["gaps"] == [
        {"server": "server2", "what": "everything", "reason": "server2: connection refused"}
    ]
    assert json.loads((tmp_path / "out/collect.json").read_text())["server2"]["reachable"] is False


async def test_old_logs_of_the_home_folder_do_not_belong_to_a_job(tmp_path: Path, tools: Path) -> None:
    site, transport, _ = train_site(tmp_path, servers=1)
    spec = train_spec(site, "--steps", "1")
    await run(site, spec, LAUNCH, options([]))
    put(transport, "server1", "ascend/log/debug/plog/plog-9_9.log", "old")
    os.utime(transport.root / "server1/ascend/log/debug/plog/plog-9_9.log", (1e9, 1e9))
    record = await logs(site, spec.job)
    assert record.extra["absent"] == [{"server": "server1", "what": "ascend/log"}]
    assert Path(record.extra["folder"]) == site.home / "jobs" / spec.job


async def test_a_server_without_python_is_listed(tmp_path: Path, tools: Path) -> None:
    (tools / "python3").write_text("#!/bin/sh\necho nothing here\nexit 127\n")
    (tools / "python3").chmod(0o755)
    site, _, _ = train_site(tmp_path, servers=1)
    record = await logs(site, None, tmp_path / "out")
    assert "nothing here" in record.extra["gaps"][0]["reason"]


async def test_links_on_a_server_are_not_followed(tmp_path: Path, tools: Path) -> None:
    site, transport, _ = train_site(tmp_path, servers=1)
    put(transport, "server1", "secret", "key")
    put(transport, "server1", "ascend/log/debug/plog/a.log", "fine")
    (transport.root / "server1/ascend/log/debug/plog/b.log").symlink_to(transport.root / "server1/secret")
    await logs(site, None, tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out/server1/ascend").rglob("*.log")) == ["a.log"]


async def test_what_is_no_job_is_refused(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, servers=1)
    with pytest.raises(PlanError, match="is no job"):
        await logs(site, "../../etc")
