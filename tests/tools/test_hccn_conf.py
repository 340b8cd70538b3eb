from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.model.cluster import Login, Server
from rankready.model.command import Command, Reply
from rankready.model.observed.host import HccnConf, HccnConfText
from rankready.model.snapshot import Gap, GapKind
from rankready.tools.hccn_conf import QUESTIONS, read_conf, read_text, restored, write_conf, written

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.kind.question import Question

SERVER = Server(name="server1", login=Login(host="h"))
TEXT, CONF = HccnConfText, HccnConf


def question(fact: type) -> Question[object]:
    return next(q for q in QUESTIONS if q.fact is fact)


def run(command: Command, root: Path) -> Reply:
    """Run a command of ours the way the compiled script does."""
    done = subprocess.run(
        ["sh", "-c", command.shell, "sh", *command.argv],
        input=command.stdin.encode(),
        capture_output=True,
        env={"RANKREADY_ROOT": str(root), "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        check=False,
        timeout=60,
    )
    return Reply(command=command, stdout=done.stdout.decode(), stderr=done.stderr.decode(), exit=done.returncode)


def asked(fact: type, root: Path) -> object:
    command = question(fact).ask(SERVER, SERVER.place)
    return question(fact).read(run(command, root), SERVER.place)


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    path = tmp_path / "etc" / "hccn.conf"
    path.write_bytes(b"address_0=10.20.0.2\nnetmask_0=255.255.255.0\n")
    path.chmod(0o640)
    return path


def test_the_file_is_read_in_both_ways(conf: Path, tmp_path: Path) -> None:
    assert asked(TEXT, tmp_path) == HccnConfText(text=conf.read_text())
    found = asked(CONF, tmp_path)
    assert isinstance(found, HccnConf)
    assert found.value("netmask", 0) == "255.255.255.0"


def test_no_file_is_told(tmp_path: Path) -> None:
    text, conf = asked(TEXT, tmp_path), asked(CONF, tmp_path)
    assert isinstance(text, Gap)
    assert isinstance(conf, Gap)
    assert (text.kind, conf.kind) == (GapKind.UNSET, GapKind.UNKNOWN)


def test_an_empty_file_is_no_gap(conf: Path, tmp_path: Path) -> None:
    conf.write_bytes(b"")
    assert asked(TEXT, tmp_path) == HccnConfText(text="")
    assert asked(CONF, tmp_path) == HccnConf(lines=())


@pytest.mark.parametrize(
    "content", ["", "address_0=10.20.0.9\n", "no newline at the end", "é\t'\"$(id)`\\\r\n\x00\x1b[0m\n", "a" * 5000]
)
def test_any_content_is_put_back_bit_for_bit(conf: Path, tmp_path: Path, content: str) -> None:
    reply = run(write_conf(content), tmp_path)
    assert written(reply) is None, reply
    assert conf.read_bytes() == content.encode()
    assert conf.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in conf.parent.iterdir()) == ["hccn.conf"]
    assert asked(TEXT, tmp_path) == HccnConfText(text=content)


def test_a_content_that_arrives_cut_leaves_the_file_alone(conf: Path, tmp_path: Path) -> None:
    before = conf.read_bytes()
    whole = write_conf("address_0=10.20.0.9\n" * 40)
    cut = Command(argv=whole.argv, shell=whole.shell, stdin=whole.stdin[:400])
    gap = written(run(cut, tmp_path))
    assert gap is not None
    assert gap.kind is GapKind.DENIED
    assert conf.read_bytes() == before
    assert sorted(p.name for p in conf.parent.iterdir()) == ["hccn.conf"]


def test_a_link_stays_a_link(conf: Path, tmp_path: Path) -> None:
    real = tmp_path / "real.conf"
    conf.rename(real)
    conf.symlink_to(real)
    assert written(run(write_conf("x_0=1\n"), tmp_path)) is None
    assert conf.is_symlink()
    assert real.read_text() == "x_0=1\n"


def test_without_the_file_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    assert written(run(write_conf("x"), tmp_path)) is not None
    assert list((tmp_path / "etc").iterdir()) == []


def test_a_file_that_is_no_text_is_a_gap(conf: Path, tmp_path: Path) -> None:
    conf.write_bytes(b"# \xff\xfe\n")
    text = asked(TEXT, tmp_path)
    assert isinstance(text, Gap)
    assert "bit for bit" in text.reason


def reply(stdout: str, stderr: str = "", code: int = 0) -> Reply:
    return Reply(command=Command(argv=("cat",)), stdout=stdout, stderr=stderr, exit=code)


def test_a_text_of_another_size_is_a_gap() -> None:
    assert isinstance(read_text(reply("9\nYWJj\nend\n")), Gap)
    assert isinstance(read_text(reply("3\nYWJj\n")), Gap)
    assert read_text(reply("3\nYWJj\nend\n")) == HccnConfText(text="abc")


def test_a_file_without_an_end_or_with_control_characters_is_a_gap() -> None:
    assert isinstance(read_conf(reply("address_0=10.20.4.1")), Gap)
    assert isinstance(read_conf(reply("address_0=10.20.\x1b4.1\n")), Gap)
    assert isinstance(read_conf(reply("# \x1b by hand\naddress_0=10.20.4.1\n")), HccnConf)


def test_a_file_that_may_not_be_read_is_denied() -> None:
    gap = read_conf(reply("", "cat: /etc/hccn.conf: Permission denied\n", 1))
    assert isinstance(gap, Gap)
    assert gap.kind is GapKind.DENIED


def test_problems_are_told() -> None:
    found = read_conf(reply(f"nonsense\n x_0=1\nmtu_0={'9' * 400}\nmtu_1=1\nmtu_1=2\nudp\t=1\n"))
    assert isinstance(found, HccnConf)
    assert [p.split(":")[0] for p in found.problems] == [
        "line 1",
        "line 2",
        "line 3",
        "line 6",
        "mtu_1 stands there 2 times",
    ]
    assert found.value("mtu", 1) == "1"


def test_restoring_some_lines_keeps_what_others_wrote() -> None:
    saved = "address_0=10.0.0.1\nnetmask_0=255.0.0.0\nmtu_0=1500\n"
    now = "mtu_0=9000\naddress_0=10.9.9.9\nnetmask_0=255.255.255.0\naddress_1=10.0.0.2\n"
    assert restored(now, saved, frozenset({0})) == (
        "mtu_0=9000\naddress_1=10.0.0.2\naddress_0=10.0.0.1\nnetmask_0=255.0.0.0\n"
    )
    assert restored("mtu_0=1500\naddress_0=10.9.9.9\n", saved, frozenset({0})) == saved


@given(st.lists(st.sampled_from(["mtu_0=1500\n", "# note\n", "address_1=10.0.0.9\n", "udp_0=1\r\n"]), unique=True))
def test_restoring_after_our_own_change_is_bit_for_bit(others: list[str]) -> None:
    saved = "".join([*others[:1], "address_0=10.0.0.1\n", *others[1:]])
    now = "".join([*others, "address_0=10.9.9.9\n", "gateway_0=10.9.9.1\n"])
    assert restored(now, saved, frozenset({0})) == saved
