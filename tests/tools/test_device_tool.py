"""Where the tool of the devices' network is, asked by the real shell words of the question."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from rankready.model.cluster import Login, Server
from rankready.model.command import Command, Reply
from rankready.model.observed.job_host import DeviceTool
from rankready.model.place import server_place
from rankready.model.snapshot import Gap
from rankready.tools.device_tool import QUESTIONS

if TYPE_CHECKING:
    from pathlib import Path

HERE = server_place("server1")
(QUESTION,) = QUESTIONS


def asked(path: str, root: Path) -> object:
    command = QUESTION.ask(Server(name="server1", login=Login(host="x")), HERE)
    done = subprocess.run(
        ["/bin/sh", "-c", command.shell, "sh", *command.argv],
        env={"PATH": path, "RANKREADY_ROOT": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    return QUESTION.read(Reply(command=command, stdout=done.stdout, stderr=done.stderr, exit=done.returncode), HERE)


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_on_path_at_the_driver_s_place_or_nowhere(tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert asked("/nowhere", root) == DeviceTool(path="", on_path=False)
    there = program(root / "usr/local/Ascend/driver/tools/hccn_tool")
    assert asked("/nowhere", root) == DeviceTool(path=str(there), on_path=False)
    linked = program(tmp_path / "bin/hccn_tool")
    assert asked(str(linked.parent), root) == DeviceTool(path=str(linked), on_path=True)


@pytest.mark.parametrize("text", ["", "path=\n", "hello\n", "path=/a\nnone\n", "path=relative\n"])
def test_other_words_are_no_answer(text: str) -> None:
    reply = Reply(command=Command(argv=("x",)), stdout=text, stderr="", exit=0)
    assert isinstance(QUESTION.read(reply, HERE), Gap)
