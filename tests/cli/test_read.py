from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner
from tool_fixtures import FOLDER, recorded

from rankready.cli.read import COMMAND

if TYPE_CHECKING:
    from pathlib import Path


def run(*words: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(COMMAND, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, json.loads(done.stdout) if done.stdout.startswith("{") else {}


def test_a_fact() -> None:
    code, said = run("hccn_tool", "--stdout", f"{FOLDER}/ip_g__ok.out", "--json", "--", "-i", "3", "-ip", "-g")
    assert code == 0
    assert said == {
        "version": 1,
        "verb": "read",
        "exit": 0,
        "tool": "hccn_tool",
        "outcome": "fact",
        "fact": {"type": "DeviceAddress", "interface": "10.20.4.13/24"},
    }


def test_a_gap() -> None:
    code, said = run("hccn_tool", "--stderr", f"{FOLDER}/ip_g__unset.err", "--exit", "13", "--", "-i", "3", "-ip", "-g")
    assert code == 1
    assert said["outcome"] == "gap"
    assert said["gap"]["kind"] == "unset"


def test_the_reversed_grammar_and_the_generation() -> None:
    words = ("--generation", "a2", "--", "-g", "-link", "-i", "3")
    code, said = run("hccn_tool", "--stdout", f"{FOLDER}/link_g__down.out", *words)
    assert (code, said["fact"], said["generation"]) == (0, {"type": "Link", "state": "DOWN"}, "a2")


def test_an_unknown_tool_and_a_missing_file_are_usage(tmp_path: Path) -> None:
    assert run("nosuchtool")[0] == 2
    assert run("hccn_tool", "--stdout", str(tmp_path / "none"), "--", "-i", "0", "-ip", "-g")[0] == 2


def test_a_command_without_reader_is_a_gap() -> None:
    code, said = run("hccn_tool", "--stdout", f"{FOLDER}/ip_g__ok.out", "--", "-i", "3", "-qp_info")
    assert (code, said["gap"]["kind"]) == (1, "unknown")


def test_every_recording_can_be_read() -> None:
    for item in recorded().values():
        program, *rest = item.argv
        words = ["--exit", str(item.exit)]
        for option, ending in (("--stdout", "out"), ("--stderr", "err")):
            path = FOLDER / f"{item.name}.{ending}"
            words += [option, str(path)] if path.exists() else []
        tool = {"/etc/hccn.conf": "hccn.conf"}.get(rest[0], "version.info") if program == "cat" else program
        code, said = run(tool, *words, "--json", "--", *([] if program in ("cat", "lspci") else rest))
        assert code == said["exit"] == (said["outcome"] == "gap"), item.name
