from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from rank_tables import dumped, members, parsed

from rankready.cli._app import group
from rankready.model.cluster import Generation
from rankready.plan.ranktable.writer import Form, write

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKREADY_CLUSTER", raising=False)


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["--lang", "en", "ranktable", *words])


def told(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("check", "--json", *words).stdout)
    return found


def table() -> dict[str, Any]:
    return parsed(write(members(Generation.A1, 2, (0, 1)), Form.PLAIN))


def put(path: Path, changed: dict[str, Any] | None = None) -> str:
    path.write_bytes(dumped(changed or table()))
    return str(path)


def test_a_good_file_needs_no_cluster(tmp_path: Path) -> None:
    put(tmp_path / "ranktable.json")
    done = run("check")
    assert done.exit_code == 0
    assert "judged as a table for A1" in done.stderr
    assert told()["verdict"] == "ok"
    assert not (tmp_path / ".rankready").exists()


def test_warnings_count_only_when_strict(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"\xef\xbb\xbf" + dumped(table()))
    assert run("check", str(path)).exit_code == 0
    assert run("check", "--strict", str(path)).exit_code == 1
    assert told(str(path))["verdict"] == "warn"


def test_an_invalid_file_names_rule_line_and_hccls_code(tmp_path: Path) -> None:
    changed = table()
    changed["server_list"][1]["device"][1]["rank_id"] = 3
    found = told(put(tmp_path / "t.json", changed))
    assert (found["exit"], found["verdict"]) == (1, "invalid")
    (bad,) = (v for v in found["violations"] if v["severity"] == "error")
    assert (bad["code"], bad["hccl"], bad["path"]) == ("RTB011", "EI0017", "server_list[1].device[1].rank_id")
    assert (tmp_path / "t.json").read_text().split("\n")[bad["line"] - 1].strip() == '"rank_id": 3'
    messages = [f["message"]["en"] for f in found["findings"] if f["code"] == "RTB011"]
    assert "EI0017" in messages[0]


def test_the_generation_can_be_told(tmp_path: Path) -> None:
    changed = parsed(write(members(Generation.A2, 2, (3, 4)), Form.PLAIN))
    path = put(tmp_path / "t.json", changed)
    assert told(path)["verdict"] == "ok"
    assert told("--generation", "a1", path)["verdict"] == "invalid"


def test_copies_that_differ(tmp_path: Path) -> None:
    changed = table()
    changed["server_list"][0]["device"][0]["device_ip"] = "10.60.9.9"
    one, other = put(tmp_path / "one.json"), put(tmp_path / "other.json", changed)
    assert told(one, one)["verdict"] == "ok"
    found = told(one, other)
    assert [v["code"] for v in found["violations"] if v["severity"] == "error"] == ["RTB007"]


def test_copies_may_differ_in_blanks_and_order(tmp_path: Path) -> None:
    one = put(tmp_path / "one.json")
    (tmp_path / "other.json").write_text(json.dumps(dict(reversed(table().items()))))
    assert told(one, str(tmp_path / "other.json"))["verdict"] == "ok"


def test_a_link_is_a_warning(tmp_path: Path) -> None:
    put(tmp_path / "real.json")
    (tmp_path / "t.json").symlink_to(tmp_path / "real.json")
    assert [v["code"] for v in told("t.json")["violations"] if v["severity"] == "warning"] == ["RTB003"]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "t.json").open("wb") as file:
        file.truncate((40 << 20) + 1)
    assert [v["code"] for v in told("t.json")["violations"]] == ["RTB002"]


def test_what_is_no_file_is_a_usage_error(tmp_path: Path) -> None:
    assert run("check", "nowhere.json").exit_code == 2
    assert run("check", str(tmp_path)).exit_code == 2
    assert run("write", "table.txt").exit_code == 2
    assert run("write", "t.json", "--devices", "0-x").exit_code == 2
    assert run("write", "t.json").exit_code == 2  # there is no cluster.yaml


def test_hostile_words_reach_no_terminal(tmp_path: Path) -> None:
    changed = table()
    changed["server_list"][0]["server_id"] = "\x1b[31m" + "x" * 80
    changed["server_list"][0]["device"][0]["rank_id"] = "\u202e9"
    shown = run("check", put(tmp_path / "t.json", changed)).stdout
    assert "\x1b" not in shown
    assert "\u202e" not in shown
