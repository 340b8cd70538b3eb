from __future__ import annotations

import os
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from train_site import train_site, train_spec

from rankready.model.finding import Outcome
from rankready.runs.preflight import preflight, stops
from rankready.runs.preflight_own import listening

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.finding import Verdict


def bad(verdicts: tuple[Verdict, ...]) -> list[tuple[str, str, Outcome]]:
    """What keeps the job from being started; these servers have no vendor's tools, of which the catalogue says so."""
    return [(v.code, str(v.place), v.outcome) for v in verdicts if stops((v,))]


def put_script(root: Path, server: str, text: str) -> None:
    (root / "servers" / server).mkdir(parents=True, exist_ok=True)
    (root / "servers" / server / "train.py").write_text(text)


async def test_servers_that_are_ready_pass(tmp_path: Path) -> None:
    site, _, said = train_site(tmp_path)
    for server in ("server1", "server2"):
        put_script(tmp_path, server, "print()")
    spec = replace(train_spec(site), argv=("train.py",), setup="train.py")
    verdicts = await preflight(site, spec)
    assert bad(verdicts) == []
    assert {"JOB002", "JOB003", "JOB004", "JOB005", "JOB006", "JOB001", "JOB013"} <= {v.code for v in verdicts}
    assert {v.outcome for v in verdicts if v.code == "JOB001"} == {Outcome.SKIP}
    assert any("rules about NPUs are left out" in t.en for t in said)


async def test_a_taken_master_port_is_found_on_node_0_only(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path)
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        spec = replace(train_spec(site), master_port=sock.getsockname()[1])
        verdicts = await preflight(site, spec, script=False)
    assert bad(verdicts) == [("JOB006", "server1", Outcome.FAIL)]
    finding = next(f for v in verdicts if v.code == "JOB006" for f in v.findings)
    assert str(spec.master_port) in finding.message.en
    assert str(spec.master_port) in finding.message.zh


async def test_a_script_that_is_missing_or_differs_is_found(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, servers=4)
    put_script(tmp_path, "server1", "same")
    put_script(tmp_path, "server2", "other")
    put_script(tmp_path, "server4", "same")
    found = bad(await preflight(site, replace(train_spec(site), argv=("train.py",))))
    assert found == [("JOB004", "server2", Outcome.FAIL), ("JOB004", "server3", Outcome.FAIL)]


async def test_a_missing_setup_file_is_found(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, servers=1)
    spec = replace(train_spec(site), setup="/no/such/set_env.sh")
    assert bad(await preflight(site, spec, script=False)) == [("JOB005", "server1", Outcome.FAIL)]


async def test_a_server_that_does_not_answer_is_unknown_and_the_others_are_judged(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, dead=("server2",))
    verdicts = await preflight(site, train_spec(site), script=False)
    assert bad(verdicts) == [("HST001", "server2", Outcome.UNKNOWN)]
    assert ("JOB002", "server1") in [(v.code, str(v.place)) for v in verdicts]


@pytest.mark.parametrize("answer", ["echo 3.6.8", "exit 127"])
async def test_a_python_that_can_not_run_the_guard_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text(f"#!/bin/sh\n{answer}\n")
    (tools / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    site, _, _ = train_site(tmp_path, servers=1)
    codes = [code for code, _, _ in bad(await preflight(site, train_spec(site), script=False))]
    assert "JOB002" in codes


async def test_an_interpreter_of_the_job_that_is_missing_is_found(tmp_path: Path) -> None:
    site, _, _ = train_site(tmp_path, servers=1)
    spec = replace(train_spec(site), python="/opt/conda/bin/python")
    assert bad(await preflight(site, spec, script=False)) == [("JOB003", "server1", Outcome.FAIL)]


def test_only_a_listening_socket_takes_a_port() -> None:
    head = "  sl  local_address rem_address   st\n"
    assert listening(head + "   0: 0100007F:733C 00000000:0000 0A 0:0\n", 0x733C)
    assert not listening(head + "   0: 0100007F:733C 0100007F:0016 01 0:0\n", 0x733C)
    assert not listening(head, 0x733C)
