"""What the programs of a plain server say of it; run for real where they are here, else as they print."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from rankready.model.cluster import Login, Server
from rankready.model.command import Command, Reply
from rankready.model.observed.job_host import (
    Cann,
    Frameworks,
    HomeSpace,
    JobEnvironment,
    Limits,
    LocalPorts,
    SharedMemory,
)
from rankready.model.snapshot import Gap, GapKind
from rankready.tools import cann, df, environment, limits, python, sysctl

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.kind.question import Question

SERVER = Server(name="server1", login=Login(host="server1"))
HEAD = "Filesystem     1024-blocks     Used Available Capacity Mounted on\n"


def said(out: str, err: str = "", status: int | None = 0) -> Reply:
    return Reply(command=Command(argv=("x",)), stdout=out, stderr=err, exit=status)


def asked(question: Question[object], **env: str) -> object:
    """Ask this machine by the question's own script."""
    command = question.ask(SERVER, SERVER.place)
    base = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run(
        ("sh", "-c", command.shell, "sh", *command.argv),
        env={**base, **env},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    reply = Reply(command=command, stdout=done.stdout, stderr=done.stderr, exit=done.returncode)
    return question.read(reply, SERVER.place)


@pytest.mark.parametrize(
    "question",
    [*limits.QUESTIONS, *sysctl.QUESTIONS, *df.QUESTIONS, *environment.QUESTIONS, *python.QUESTIONS],
    ids=lambda q: q.fact.__name__,
)
def test_this_machine_answers(question: Question[object]) -> None:
    assert isinstance(asked(question), question.fact)


@pytest.mark.parametrize(
    "question",
    [*limits.QUESTIONS, *sysctl.QUESTIONS, *df.QUESTIONS, *environment.QUESTIONS, *cann.QUESTIONS, *python.QUESTIONS],
    ids=lambda q: q.fact.__name__,
)
@pytest.mark.parametrize(
    "reply",
    [said("", "", None), said(""), said("what?\n"), said("", "denied\n", 1), said("\x1b[31m\n"), said("open=1", "", 0)],
    ids=["no end", "nothing", "other words", "refused", "control", "cut"],
)
def test_words_that_we_do_not_know_are_a_gap(question: Question[object], reply: Reply) -> None:
    assert isinstance(question.read(reply, SERVER.place), Gap)


def test_limits() -> None:
    assert limits.read(said("open=1024\nlocked=unlimited\n")) == Limits(open_files=1024, locked_kib=None)
    assert isinstance(limits.read(said("open=1024\nlocked=\n")), Gap)


def test_ports() -> None:
    assert sysctl.read(said("range=32768\t60999\nreserved=\n")) == LocalPorts(first=32768, last=60999)
    found = sysctl.read(said("range=32768 60999\nreserved=60000-60031,61000\n"))
    assert found == LocalPorts(first=32768, last=60999, reserved=((60000, 60031), (61000, 61000)))
    assert isinstance(found, LocalPorts)
    assert [found.lends(p) for p in (29500, 40000, 60000, 60031, 60032, 61000)] == [
        False,
        True,
        False,
        False,
        True,
        False,
    ]
    assert isinstance(sysctl.read(said("range=1 2\nreserved=1-2-3\n")), Gap)


def test_room() -> None:
    row = "tmpfs              262144     4096    258048       2% /dev/shm\n"
    assert df.read(said(HEAD + row), SharedMemory) == SharedMemory(total_kib=262144, free_kib=258048)
    name = "10.0.0.1:/a b/home  262144     4096    258048       2% /home\n"
    assert df.read(said(HEAD + name), HomeSpace) == HomeSpace(total_kib=262144, free_kib=258048)
    gone = df.read(said("", "df: /dev/shm: No such file or directory\n", 1), SharedMemory)
    assert isinstance(gone, Gap)
    assert gone.kind is GapKind.UNSUPPORTED
    assert isinstance(df.read(said(HEAD + row + row), SharedMemory), Gap)


def test_only_a_jobs_variables_are_read() -> None:
    (question,) = environment.QUESTIONS
    found = asked(question, HCCL_BUFFSIZE="200", OTHER="x", CM_CHIEF_IP="10.0.0.1", MASTER_ADDR="a=b")
    assert found == JobEnvironment(values={"HCCL_BUFFSIZE": "200", "CM_CHIEF_IP": "10.0.0.1", "MASTER_ADDR": "a=b"})
    assert asked(question) == JobEnvironment(values={})


def test_a_toolkit_is_found_sourced_or_not(tmp_path: Path) -> None:
    (question,) = cann.QUESTIONS
    home = {"HOME": str(tmp_path), "RANKREADY_ROOT": str(tmp_path)}
    nothing = asked(question, **home)
    assert isinstance(nothing, Gap)
    assert nothing.kind is GapKind.UNSUPPORTED
    kit = tmp_path / "usr/local/Ascend/ascend-toolkit"
    (kit / "latest/aarch64-linux").mkdir(parents=True)
    (kit / "set_env.sh").touch()
    (kit / "latest/aarch64-linux/ascend_toolkit_install.info").write_text("package_name=x\nversion=8.2.RC1\n")
    setup = ("/usr/local/Ascend/ascend-toolkit/set_env.sh",)
    assert asked(question, **home) == Cann(setup=setup, reachable=False, version="8.2.RC1")
    (kit / "lib64").mkdir()
    (kit / "lib64/libhccl.so").touch()
    path = f"/nowhere:{kit / 'lib64'}"
    assert asked(question, LD_LIBRARY_PATH=path, **home) == Cann(setup=setup, reachable=True, version="8.2.RC1")


def test_frameworks(tmp_path: Path) -> None:
    (question,) = python.QUESTIONS
    for name in ("torch", "torch_npu"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('never loaded')\n")
    info = tmp_path / "torch-2.6.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.6.0\n")
    found = asked(question, PYTHONPATH=str(tmp_path))
    assert isinstance(found, Frameworks)
    assert (found.torch, found.torch_npu) == ("2.6.0", "unknown")
    none = python.read(said("", "sh: 1: exec: python3: not found\n", 127))
    assert isinstance(none, Gap)
    assert none.kind is GapKind.UNSUPPORTED
