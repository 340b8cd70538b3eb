"""`sync` against servers that are folders, through the real agent and this machine's own shell and python3."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fake_fleet import folder_site

from rankready.model.errors import ConfigError
from rankready.runs.sync import preview, sync

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.record import Record


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "pkg" / "empty").mkdir(parents=True)
    (root / "train.py").write_text("print('go')\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o750)
    (root / "pkg" / "model.py").write_text("x = 1\n" * 1000)
    (root / "pkg" / "名字 with blanks\nand lines.txt").write_bytes(os.urandom(70_000))
    (root / "pkg" / "latest").symlink_to("model.py")
    return root


def target(tmp_path: Path, server: str) -> Path:
    return tmp_path / "servers" / server / ".rankready" / "work" / "lab"


def listed(folder: Path) -> dict[str, tuple[int, str | bytes]]:
    found: dict[str, tuple[int, str | bytes]] = {}
    for path in folder.rglob("*"):
        if ".rankready-sync" in path.parts:
            continue
        body: str | bytes = ""
        if path.is_symlink():
            body = str(path.readlink())
        elif path.is_file():
            body = path.read_bytes()
        found[str(path.relative_to(folder))] = (path.lstat().st_mode, body)
    return found


def by_server(record: Record) -> dict[str, dict[str, Any]]:
    return {s["server"]: s for s in record.extra["synced"]}


async def test_all_servers_hold_the_same_afterwards(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 3)
    record = await sync(site, [project])
    assert record.exit == 0
    for server in ("server1", "server2", "server3"):
        assert listed(target(tmp_path, server) / "project") == listed(project)
        assert by_server(record)[server]["digest"] == record.extra["digest"]
        assert by_server(record)[server]["to"] == str(target(tmp_path, server))
    assert by_server(record)["server1"]["files"] == 4


async def test_nothing_is_sent_when_nothing_changed(tmp_path: Path, project: Path) -> None:
    site, transport, _ = folder_site(tmp_path)
    await sync(site, [project])
    pushed = transport.session("server1").pushed
    record = await sync(site, [project])
    assert record.exit == 0
    assert transport.session("server1").pushed == pushed
    assert [s["sent"] for s in record.extra["synced"]] == [0, 0]


async def test_only_the_changed_file_is_sent(tmp_path: Path, project: Path) -> None:
    site, transport, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    inode = (target(tmp_path, "server1") / "project/pkg/model.py").stat().st_ino
    (project / "train.py").write_text("print('new')\n")
    before = transport.session("server1").pushed
    record = await sync(site, [project])
    assert record.exit == 0
    assert (target(tmp_path, "server1") / "project/train.py").read_text() == "print('new')\n"
    assert (target(tmp_path, "server1") / "project/pkg/model.py").stat().st_ino == inode
    assert by_server(record)["server1"]["sent"] < 12_000
    assert transport.session("server1").pushed - before < 40_000


async def test_an_edit_on_a_server_is_seen_and_mended_even_with_its_old_time(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path)
    await sync(site, [project])
    there = target(tmp_path, "server2") / "project/train.py"
    info = there.stat()
    there.write_text("print('GO')\n")
    os.utime(there, ns=(info.st_atime_ns, info.st_mtime_ns))
    record = await sync(site, [project])
    assert record.exit == 0
    assert there.read_text() == "print('go')\n"
    assert by_server(record)["server1"]["sent"] == 0
    assert by_server(record)["server2"]["sent"] > 0


async def test_mode_alone_is_a_difference(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    (project / "train.py").chmod(0o755)
    assert (await preview(site, [project])).exit == 1
    assert (await sync(site, [project])).exit == 0
    assert (target(tmp_path, "server1") / "project/train.py").stat().st_mode & 0o777 == 0o755


async def test_one_file_and_the_contents_of_a_folder_live_side_by_side(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    monkeypatch.chdir(project)
    assert (await sync(site, [Path("train.py")])).exit == 0
    assert (await sync(site, [Path("pkg")])).exit == 0
    again = await sync(site, [Path("train.py")])
    assert again.exit == 0
    assert by_server(again)["server1"]["sent"] == 0
    assert (await sync(site, [Path()], "flat")).exit == 0
    assert listed(tmp_path / "servers/server1/flat") == listed(project)


async def test_nothing_is_deleted_without_delete_and_only_ours_with_it(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    there = target(tmp_path, "server1") / "project"
    (there / "pkg" / "theirs.txt").write_text("not ours")
    shutil.rmtree(project / "pkg")
    (project / "run.sh").unlink()
    assert (await sync(site, [project])).exit == 0
    assert (there / "pkg" / "model.py").exists()
    assert (await sync(site, [project])).extra["synced"][0]["sent"] == 0
    assert (await preview(site, [project], delete=True)).exit == 1
    record = await sync(site, [project], delete=True)
    assert record.exit == 0
    assert sorted(str(p.relative_to(there)) for p in there.rglob("*")) == ["pkg", "pkg/theirs.txt", "train.py"]
    assert (await sync(site, [project], delete=True)).extra["synced"][0]["sent"] == 0


async def test_delete_keeps_what_was_changed_on_the_server(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    there = target(tmp_path, "server1") / "project/run.sh"
    there.write_text("someone's own")
    (project / "run.sh").unlink()
    record = await sync(site, [project], delete=True)
    assert there.read_text() == "someone's own"
    assert by_server(record)["server1"]["kept"] == ["project/run.sh"]


async def test_a_dead_server_is_a_gap_and_the_others_finish(tmp_path: Path, project: Path) -> None:
    site, _, said = folder_site(tmp_path, 3, dead=("server2",))
    record = await sync(site, [project])
    assert record.exit == 3
    assert set(by_server(record)) == {"server1", "server3"}
    assert record.extra["failed"] == [{"server": "server2", "reason": "server2: connection refused"}]
    assert [str(v.place) for v in record.verdicts] == ["server2"]
    assert any("server2: not synced" in t.en for t in said)


@pytest.mark.parametrize("after", [500, 30_000, 60_000])
async def test_a_connection_lost_in_the_middle_leaves_the_old_tree_and_a_second_sync_mends(
    tmp_path: Path, project: Path, after: int
) -> None:
    site, _, _ = folder_site(tmp_path)
    await sync(site, [project])
    before = listed(target(tmp_path, "server2"))
    (project / "pkg" / "big.bin").write_bytes(os.urandom(400_000))
    (project / "train.py").write_text("print('second')\n")
    site, transport, _ = folder_site(tmp_path)
    transport.session("server2").break_after = after
    record = await sync(site, [project])
    assert record.exit == 3
    assert by_server(record)["server1"]["same"] is True
    assert record.extra["failed"][0]["server"] == "server2"
    assert listed(target(tmp_path, "server2")) == before
    site, _, _ = folder_site(tmp_path)
    assert (await sync(site, [project])).exit == 0
    assert listed(target(tmp_path, "server2") / "project") == listed(project)


async def test_a_sync_that_died_while_replacing_is_not_taken_for_done(tmp_path: Path, project: Path) -> None:
    site, transport, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    (target(tmp_path, "server1") / ".rankready-sync" / "syncing").write_text("x")
    assert (await preview(site, [project])).exit == 1
    assert (await sync(site, [project])).exit == 0
    assert not (target(tmp_path, "server1") / ".rankready-sync" / "syncing").exists()
    assert transport.session("server1").pushed > 0


async def test_no_python_on_the_server_is_said_plainly(tmp_path: Path, project: Path) -> None:
    empty = tmp_path / "empty-path"
    empty.mkdir()
    site, _, _ = folder_site(tmp_path, 1, env={"PATH": str(empty)})
    record = await sync(site, [project])
    assert record.exit == 3
    assert "python3" in record.extra["failed"][0]["reason"]
    assert "exit 127" in record.extra["failed"][0]["reason"]


async def test_a_stranger_in_the_way_is_never_removed(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    (target(tmp_path, "server1") / "project" / "train.py").mkdir(parents=True)
    assert (await sync(site, [project])).exit == 3
    record = await sync(site, [project])
    assert record.exit == 3
    assert "stands in the way" in record.extra["failed"][0]["reason"]
    assert (target(tmp_path, "server1") / "project" / "train.py").is_dir()


async def test_dry_run_touches_nothing(tmp_path: Path, project: Path) -> None:
    site, transport, said = folder_site(tmp_path, 1)
    record = await preview(site, [project])
    assert record.exit == 1
    assert transport.session("server1").pushed == 0
    assert list((tmp_path / "servers/server1").iterdir()) == []
    assert any("would send 4 files" in t.en for t in said)


@pytest.mark.parametrize("aim", ["/etc/passwd", "../outside", "pkg/../../outside", "loop/../../project"])
async def test_a_link_out_of_the_tree_is_refused(tmp_path: Path, project: Path, aim: str) -> None:
    (project / "loop").symlink_to(".")
    (project / "bad").symlink_to(aim)
    site, transport, _ = folder_site(tmp_path, 1)
    with pytest.raises(ConfigError, match="symbolic link"):
        await sync(site, [project])
    assert transport.session("server1").scripts == []
    assert (await sync(site, [project], exclude=["bad"])).exit == 0


async def test_excluded_and_private_folders_do_not_travel(tmp_path: Path, project: Path) -> None:
    (project / ".rankready").mkdir()
    (project / ".rankready" / "journal.json").write_text("{}")
    (project / "pkg" / "__pycache__").mkdir()
    (project / "pkg" / "a.pyc").write_text("")
    site, _, _ = folder_site(tmp_path, 1)
    await sync(site, [project], exclude=["*.pyc", "project/pkg/lat*"])
    found = set(listed(target(tmp_path, "server1") / "project"))
    assert not found & {".rankready", "pkg/__pycache__", "pkg/a.pyc", "pkg/latest"}
    assert "pkg/model.py" in found


async def test_two_paths_of_one_name_and_missing_paths_are_refused(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "train.py").write_text("")
    with pytest.raises(ConfigError, match="same name"):
        await sync(site, [project / "train.py", tmp_path / "other" / "train.py"])
    with pytest.raises(ConfigError, match="does not exist"):
        await sync(site, [project / "nosuch.py"])


async def test_what_a_login_file_prints_is_noise(tmp_path: Path, project: Path) -> None:
    noisy = tmp_path / "bin"
    noisy.mkdir()
    (noisy / "python3").write_text(f'#!/bin/sh\necho "Welcome {{"\nexec {shutil.which("python3")} "$@"\n')
    (noisy / "python3").chmod(0o755)
    site, _, _ = folder_site(tmp_path, 1, env={"PATH": f"{noisy}:/usr/bin:/bin"})
    assert (await sync(site, [project])).exit == 0


async def test_a_file_of_ours_becomes_a_folder_and_back(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    (project / "train.py").unlink()
    (project / "train.py").mkdir()
    (project / "train.py" / "inner").write_text("x")
    assert (await sync(site, [project])).exit == 0
    shutil.rmtree(project / "train.py")
    (project / "train.py").write_text("print()\n")
    refused = await sync(site, [project])
    assert "--delete" in refused.extra["failed"][0]["reason"]
    assert (await sync(site, [project], delete=True)).exit == 0
    assert listed(target(tmp_path, "server1") / "project") == listed(project)


OLDEST = Path(shutil.which("python3.7") or "/root/.pyenv/versions/3.7.16/bin/python3.7")


@pytest.mark.skipif(not OLDEST.exists(), reason="no Python 3.7 here")
async def test_the_oldest_python_on_a_server_does(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1, env={"PATH": f"{OLDEST.parent}:/usr/bin:/bin"})
    assert (await sync(site, [project])).exit == 0
    assert (await sync(site, [project])).extra["synced"][0]["sent"] == 0
    assert listed(target(tmp_path, "server1") / "project") == listed(project)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    folder = tmp_path / "servers" / "server2"
    folder.mkdir(parents=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", str(folder)], check=False).returncode:
        pytest.skip("this machine does not let us mount a tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.root
async def test_a_full_disk_is_that_servers_own_failure(tmp_path: Path, project: Path, small_disk: Path) -> None:
    site, _, _ = folder_site(tmp_path, 2)
    (project / "big.bin").write_bytes(b"\0" * (12 << 20))
    record = await sync(site, [project])
    assert record.exit == 3
    assert by_server(record)["server1"]["same"] is True
    assert "disk full" in record.extra["failed"][0]["reason"]
    assert listed(target(tmp_path, "server2")) == {}


async def test_what_time_stamps_hide_is_found_by_reading_every_file_again(tmp_path: Path, project: Path) -> None:
    site, _, _ = folder_site(tmp_path, 1)
    await sync(site, [project])
    there = target(tmp_path, "server1")
    file = there / "project" / "train.py"
    file.write_text("print('no')\n")
    info = file.lstat()
    state = there / ".rankready-sync" / "known.json"
    kept = json.loads(state.read_text())
    kept["records"]["project/train.py"]["stamp"] = [info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino]
    state.write_text(json.dumps(kept))  # a disk that lost a block behind the file system's back
    assert (await preview(site, [project])).exit == 0
    assert (await preview(site, [project], content=True)).exit == 1
    assert (await sync(site, [project], content=True)).exit == 0
    assert file.read_text() == "print('go')\n"
