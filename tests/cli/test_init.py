from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankready.cli._app import group

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["--lang", "en", "init", *words])


def test_a_file_that_exists_is_refused_before_anyone_is_contacted(tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text("mine")
    done = run("no-such-host.invalid", "-o", str(path))
    assert done.exit_code == 2
    assert "the file exists" in done.output
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["node[4-1]"], "reversed"),
        (["root@"], "no host"),
        (["h", "--jump", "-oProxyCommand=x"], "--jump"),
        (["h", "--name", "a b"], "--name"),
        ([], "HOST"),
    ],
)
def test_what_is_no_host_is_a_usage_error(tmp_path: Path, words: list[str], told: str) -> None:
    done = run(*words, "-o", str(tmp_path / "cluster.yaml"))
    assert done.exit_code == 2
    assert told in done.output
    assert not (tmp_path / "cluster.yaml").exists()


def test_this_machine_is_no_ascend_server_but_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKREADY_TRANSPORT", "local")
    path = tmp_path / "cluster.yaml"
    done = run("127.0.0.1", "-o", str(path))
    assert done.exit_code == 3
    assert "the generation could not be told" in done.output
    assert "no device was seen" in path.read_text()
