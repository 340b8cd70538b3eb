from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from rankready.lab import control
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path


async def _talk(directory: Path, *questions: control.Message) -> list[control.Message | str]:
    async def answer(question: control.Message) -> control.Message:
        if question["do"] == "refuse":
            raise LabError("not here")
        return {"seen": question["do"]}

    listener = control.listen(directory)
    listener.setblocking(False)
    server = await control.serve(listener, answer)
    got: list[control.Message | str] = []
    async with server:
        for question in questions:
            try:
                got.append(await asyncio.to_thread(control.ask, directory, question))
            except LabError as error:
                got.append(str(error))
    return got


async def test_questions_are_answered_and_refusals_keep_their_words(tmp_path: Path) -> None:
    got = await _talk(tmp_path, {"do": "x" * 100_000}, {"do": "refuse"}, {"what": "no"})
    assert got[0] == {"seen": "x" * 100_000}
    assert got[1] == "not here"
    assert "not a request" in str(got[2])


async def test_a_folder_may_be_deeper_than_a_socket_address_is_long(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    deep.mkdir(parents=True)
    assert await _talk(deep, {"do": "it"}) == [{"seen": "it"}]


def test_where_no_lab_runs_is_said(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="no lab runs in"):
        control.ask(tmp_path, {"do": "status"})


def test_only_the_owner_may_connect(tmp_path: Path) -> None:
    control.listen(tmp_path).close()
    assert (tmp_path / control.SOCKET).stat().st_mode & 0o777 == 0o600


def test_a_silent_lab_is_given_up(tmp_path: Path) -> None:
    with control.listen(tmp_path), pytest.raises(LabError, match="did not answer within"):
        control.ask(tmp_path, {"do": "status"}, timeout_s=0.2)
