"""The work mode of a server: its first NPU is asked, and only that one's answer counts."""

from __future__ import annotations

import pytest

from rankready.model.cluster import Login, Server
from rankready.model.command import Reply
from rankready.model.observed.chips import NpuWorkMode, WorkMode
from rankready.model.snapshot import Gap
from rankready.tools.npu_smi import QUESTIONS

SERVER = Server(name="server1", login=Login(host="server1"), devices=(4, 5, 6, 7))


def answer(text: str) -> object:
    (question,) = (q for q in QUESTIONS if q.fact is NpuWorkMode)
    command = question.ask(SERVER, SERVER.place)
    assert command.argv == ("npu-smi", "info", "-t", "work-mode", "-i", "4")
    return question.read(Reply(command=command, exit=0, stdout=text, stderr=""), SERVER.place)


@pytest.mark.parametrize("mode", WorkMode)
def test_both_modes_are_read(mode: WorkMode) -> None:
    assert answer(f"\tNPU ID                         : 4\n\twork-mode                      : {mode}\n") == NpuWorkMode(
        npu=4, mode=mode
    )


@pytest.mark.parametrize(
    "text",
    [
        "\tNPU ID                         : 0\n\twork-mode                      : AMP\n",
        "\tNPU ID                         : 4\n\twork-mode                      : XMP\n",
        "\twork-mode                      : AMP\n",
        "",
    ],
    ids=["another NPU", "unknown word", "no NPU", "nothing"],
)
def test_anything_else_is_not_known(text: str) -> None:
    assert isinstance(answer(text), Gap)
