"""Archives from a server are hostile."""

from __future__ import annotations

import io
import json
import tarfile
from typing import TYPE_CHECKING

import pytest

from rankready.runs.unpack import unpack

if TYPE_CHECKING:
    from pathlib import Path


def member(
    name: str, data: bytes = b"x", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.size = len(data) if kind == tarfile.REGTYPE else 0
    return info, data


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return path


def files(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() or p.is_symlink())


def test_ordinary_files_come_out_with_the_last_words(tmp_path: Path) -> None:
    last = {"gaps": [{"what": "os/dmesg", "reason": "denied"}]}
    path = archive(
        tmp_path / "a.tgz", member("train/rank-0.log", b"hello"), member("gaps.json", json.dumps(last).encode())
    )
    done = unpack(path, tmp_path / "out", limit=1000)
    assert (done.files, done.size, done.refused, done.last) == (1, 5, [], last)
    assert (tmp_path / "out/train/rank-0.log").read_bytes() == b"hello"


@pytest.mark.parametrize(
    "bad",
    [
        member("/etc/passwd"),
        member("../outside"),
        member("a/../../outside"),
        member("a//b"),
        member("././a"),
        member("-x"[:0] + "a\x1b[2J"),
        member(".ssh/authorized_keys"),
        member("link", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        member("hard", kind=tarfile.LNKTYPE, link="../outside"),
        member("pipe", kind=tarfile.FIFOTYPE),
        member("dev", kind=tarfile.CHRTYPE),
        member("/".join("a" * 20)),
    ],
    ids=lambda m: repr(m[0].name)[:30],
)
def test_what_would_leave_the_folder_or_is_no_file_is_refused(
    tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes]
) -> None:
    path = archive(tmp_path / "a.tgz", bad, member("good"))
    done = unpack(path, tmp_path / "out", limit=1000)
    assert len(done.refused) == 1
    assert files(tmp_path / "out") == ["good"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tgz", "out"]


def test_a_link_that_stands_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/log").symlink_to(tmp_path / "victim")
    done = unpack(archive(tmp_path / "a.tgz", member("log", b"theirs")), tmp_path / "out", limit=1000)
    assert done.files == 1
    assert (tmp_path / "victim").read_text() == "mine"


def test_more_than_the_limit_is_left_out_and_said(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tgz", member("big", b"0" * 2000), member("small", b"1"))
    done = unpack(path, tmp_path / "out", limit=1000)
    assert done.refused == [("big", "beyond the limit of 1000 bytes")]
    assert files(tmp_path / "out") == ["small"]


def test_a_stream_that_breaks_off_keeps_what_came_and_says_so(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tgz", member("one", b"1" * 100), member("two", bytes(range(256)) * 400))
    path.write_bytes(path.read_bytes()[:-60])
    done = unpack(path, tmp_path / "out", limit=1 << 20)
    assert done.refused[-1][0] == "the rest"
    assert "one" in files(tmp_path / "out")
    assert done.last is None


def test_noise_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.tgz").write_bytes(b"Permission denied\n")
    done = unpack(tmp_path / "a.tgz", tmp_path / "out", limit=1000)
    assert [what for what, _ in done.refused] == ["the rest"]
