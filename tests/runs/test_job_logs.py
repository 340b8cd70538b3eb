from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fake_fleet import FolderSession
from sim_fleet import sim_fleet
from train_site import LAUNCH, options, train_site, train_spec

from rankready.model.errors import PlanError, Unreachable
from rankready.runs.job import run
from rankready.runs.job_logs import Bounds, logs
from rankready.runs.why_checks import ports
from rankready.runs.why_folder import others
from rankready.transports.local import LocalChannel

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

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
    assert {"server": "server1", "what": "ascend/log"} in record.extra["absent"]
    assert Path(record.extra["folder"]) == site.home / "jobs" / spec.job


async def test_a_server_without_python_is_listed(tmp_path: Path, tools: Path) -> None:
    (tools / "python3").write_text("#!/bin/sh\necho nothing here\nexit 127\n")
    (tools / "python3").chmod(0o755)
    site, _, _ = train_site(tmp_path, servers=1)
    record = await logs(site, None, tmp_path / "out")
    assert "nothing here" in record.extra["gaps"][0]["reason"]


async def test_what_is_here_whole_is_not_sent_again(tmp_path: Path, tools: Path) -> None:
    site, transport, _ = train_site(tmp_path, servers=1)
    put(transport, "server1", "ascend/log/debug/plog/plog-1_2.log", "x" * 50_000)
    put(transport, "server1", "ascend/log/debug/plog/plog-3_4.log", "y" * 50_000)
    first = await logs(site, None, tmp_path / "out")
    assert (first.extra["collected"][0]["kept"], first.extra["gaps"]) == (0, [])
    put(transport, "server1", "ascend/log/debug/plog/plog-3_4.log", "y" * 50_001)
    (tmp_path / "out/server1/ascend/log/debug/plog/plog-1_2.log").chmod(0o400)
    second = await logs(site, None, tmp_path / "out")
    told = second.extra["collected"][0]
    assert told["kept"] >= 1
    assert told["bytes"] < 60_000
    assert (tmp_path / "out/server1/ascend/log/debug/plog/plog-3_4.log").stat().st_size == 50_001
    assert (tmp_path / "out/server1/ascend/log/debug/plog/plog-1_2.log").stat().st_mode & 0o777 == 0o400


class Cut(FolderSession):
    """A connection that is lost after some bytes have come, once."""

    after: int | None = 0

    async def open(self, command: str) -> LocalChannel:
        inner = await super().open(command)
        after, self.after = self.after, None
        return inner if after is None else Losing(inner, after)


class Losing(LocalChannel):
    def __init__(self, inner: LocalChannel, after: int) -> None:
        super().__init__(inner._process)
        self.left = after

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in super().chunks():
            yield chunk[: self.left]
            self.left -= len(chunk)
            if self.left <= 0:
                raise Unreachable("server1: connection lost")


async def test_a_second_run_goes_on_where_the_connection_was_lost(tmp_path: Path, tools: Path) -> None:
    site, transport, _ = train_site(tmp_path, servers=1)
    for n in range(8):
        put(transport, "server1", f"ascend/log/debug/plog/plog-{n}_2.log", random.Random(n).randbytes(40_000).hex())  # noqa: S311  (what can't be packed)
    home = transport.session("server1")
    broken = Cut(dict(home._env), "server1")
    broken.after = 150_000
    transport.sessions["server1"] = broken
    first = await logs(site, None, tmp_path / "out")
    assert first.exit == 1
    assert any("connection lost" in g["reason"] and "once more" in g["reason"] for g in first.extra["gaps"])
    came = first.extra["collected"][0]["files"]
    assert came > 0
    assert json.loads((tmp_path / "out/collect.json").read_text())["server1"]["reachable"] is True
    second = await logs(site, None, tmp_path / "out")
    assert (second.exit, second.extra["gaps"]) == (0, [])
    assert second.extra["collected"][0]["kept"] > 0
    assert len(list((tmp_path / "out/server1/ascend").rglob("*.log"))) == 8
    assert not list((tmp_path / "out").rglob("*.part"))


async def test_exported_device_logs_and_listeners_are_collected(tmp_path: Path, tools: Path) -> None:
    site, transport, _ = train_site(tmp_path, servers=1)
    event = "slog/dev-os-0/run/event/event_20260309213000000.log"
    put(transport, "server1", f"2026-03-09-21-40-00/{event}", "[EVENT] KERNEL(1,sklogd):x Event id=0x80e01801\n")
    put(transport, "server1", "2026-03-09-21-40-00/hisi_logs/device-1/history.log", "system exception code\n")
    put(transport, "server1", "older/slog/dev-os-0/run/event/event_20250309213000000.log", "old\n")
    os.utime(transport.root / "server1/older", (1e9, 1e9))
    (tools / "ss").write_text("#!/bin/sh\necho 'LISTEN 0 128 10.0.0.1:60000 0.0.0.0:* users:((\"x\",pid=7,fd=8))'\n")
    (tools / "ss").chmod(0o755)
    await logs(site, None, tmp_path / "out")
    found = {str(p.relative_to(tmp_path / "out/server1")) for p in (tmp_path / "out/server1").rglob("*") if p.is_file()}
    assert {f"device_log/{event}", "device_log/hisi_logs/device-1/history.log", "meta/ss_listen.txt"} <= found
    assert not any("20250309" in name for name in found)


async def test_what_devices_say_of_themselves_is_kept_in_their_tools_own_words(tmp_path: Path) -> None:
    """One file an answer, named as why reads it; what a tool did not answer is listed."""
    fleet = sim_fleet(tmp_path)
    (fleet.root / "fabric" / "server2.1").write_text("ADDR=\nMASK=\nGW=\nUP=0\nVLAN=100\n")
    (fleet.benches["server2"].run_folder / "npu1.links").write_text("1772950000 UP\n1772957220 DOWN\n")
    await logs(fleet.site(), None, tmp_path / "out")
    folder = tmp_path / "out/server2/environment_check"
    assert "DOWN" in (folder / "hccn_link_1.txt").read_text()
    assert "UP" in (folder / "hccn_link_0.txt").read_text()
    assert (folder / "hccn_tls_0.txt").is_file()
    found = list(ports(others(tmp_path / "out"), tmp_path / "out"))
    assert ("server2", 1, 1) in {(p.host, p.device, p.downs) for p in found}


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
