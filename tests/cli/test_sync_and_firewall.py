"""`sync` and `firewall` from the command line, on this machine itself as the only server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankready.cli._app import group

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = """
cluster: one
generation: a1
topology: switch
servers:
  - {name: server1, ssh: root@127.0.0.1, address: 10.0.0.11}
parameter_plane: {pool: 10.20.0.0/16}
"""
# a ufw that is active, and notes what else it is asked to do
UFW = """#!/bin/sh
case "$1" in
  status) cat "$0.says" ;;
  *) echo "$*" >> "$0.asked" ;;
esac
"""
ACTIVE = "Status: active\nDefault: deny (incoming), allow (outgoing), disabled (routed)\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "train.py").write_text("print()\n")
    for name, body in (("ufw", UFW), ("nft", "#!/bin/sh\necho '{\"nftables\": []}'\n")):
        (tmp_path / "bin" / name).write_text(body)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin" / "ufw.says").write_text(ACTIVE)
    (tmp_path / "bin" / "firewall-cmd").write_text("#!/bin/sh\necho not running\nexit 252\n")
    (tmp_path / "bin" / "firewall-cmd").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("RANKREADY_TRANSPORT", "local")
    return tmp_path


def test_sync_tells_what_it_did(here: Path) -> None:
    dry = CliRunner().invoke(group, ["sync", "--dry-run", "train.py"])
    assert dry.exit_code == 1
    assert not (here / "home" / ".rankready").exists()
    done = CliRunner().invoke(group, ["sync", "--json", "train.py", "--to", "~/elsewhere"])
    assert done.exit_code == 0
    (only,) = json.loads(done.stdout)["synced"]
    assert (only["server"], only["files"]) == ("server1", 1)
    assert (here / "home" / "elsewhere" / "train.py").read_text() == "print()\n"


def test_sync_of_nothing_is_a_usage_error(here: Path) -> None:
    assert CliRunner().invoke(group, ["sync"]).exit_code == 2
    missing = CliRunner().invoke(group, ["sync", "nosuch.py"])
    assert missing.exit_code == 2
    assert "nosuch.py" in missing.stderr


def test_disable_asks_first_and_without_a_terminal_changes_nothing(here: Path) -> None:
    asked = here / "bin" / "ufw.asked"
    refused = CliRunner().invoke(group, ["--lang", "en", "firewall", "disable"])
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    assert CliRunner().invoke(group, ["firewall", "disable", "--dry-run"]).exit_code == 1
    assert not asked.exists()
    assert not list((here / ".rankready").glob("journal/*"))


def test_disable_that_does_not_take_is_a_finding_and_can_be_restored(here: Path) -> None:
    done = CliRunner().invoke(group, ["--lang", "en", "firewall", "disable", "--yes", "--json"])
    assert (here / "bin" / "ufw.asked").read_text() == "disable\n"
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert "still active" in told["findings"][0]["message"]["en"]
    assert CliRunner().invoke(group, ["firewall", "restore", "--dry-run"]).exit_code == 1
    assert CliRunner().invoke(group, ["firewall", "restore", "--yes"]).exit_code == 0
    assert (here / "bin" / "ufw.asked").read_text() == "disable\n--force enable\n"
    assert CliRunner().invoke(group, ["firewall", "restore", "--yes"]).exit_code == 2


def test_restore_says_what_is_not_as_it_was(here: Path) -> None:
    CliRunner().invoke(group, ["firewall", "disable", "--yes"])
    (here / "bin" / "ufw.says").write_text("Status: inactive\n")
    wrong = CliRunner().invoke(group, ["--lang", "en", "firewall", "restore", "--yes", "--json"])
    assert wrong.exit_code == 1
    assert "not as it stood" in json.loads(wrong.stdout)["findings"][0]["message"]["en"]
    (here / "bin" / "ufw.says").write_text(ACTIVE)
    assert CliRunner().invoke(group, ["firewall", "restore", "--yes"]).exit_code == 0


def test_status_that_cant_be_read_is_incomplete(here: Path) -> None:
    (here / "bin" / "ufw.says").write_text("ERROR: problem running\n")
    assert CliRunner().invoke(group, ["firewall", "status"]).exit_code == 3
