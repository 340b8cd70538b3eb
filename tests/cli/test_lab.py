"""The lab's verbs, on the simulated door: it opens everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankready.cli._app import group

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _run(*words: str, lang: str = "en") -> tuple[int, str, str]:
    done = CliRunner().invoke(group, ["--lang", lang, "lab", *words])
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    directory = str(tmp_path / "lab")
    exit_code, out, err = _run("up", "--dir", directory, "--door", "simulated")
    assert exit_code == 0, err
    assert out.splitlines()[0].startswith("door: simulated: answers come from a model, not from a kernel")
    yield directory
    _run("down", directory)


def test_the_whole_life_of_a_lab(lab: str, tmp_path: Path) -> None:
    exit_code, out, _ = _run("fault", lab, "link_down", "server2/3")
    assert exit_code == 0
    assert "check: must show NET001 server2/3 (fail)" in out
    assert "1  link_down server2/3" in _run("status", lab)[1]
    assert "server1/3  -  leaf1/GE1/0/3 vlan 103" in _run("truth", lab)[1]
    assert "healed 1  link_down server2/3" in _run("heal", lab, "1")[1]
    assert "nothing was broken" in _run("heal", lab, "--all")[1]
    exit_code, out, _ = _run("down", lab)
    assert (exit_code, "is left" in out) == (0, True)
    assert not (tmp_path / "lab").exists()


def test_json_is_one_object(lab: str) -> None:
    for words in (
        ("status", lab),
        ("truth", lab),
        ("fault", lab, "one_way", "server1/1"),
        ("heal", lab),
        ("down", lab),
    ):
        exit_code, out, _ = _run(*words, "--json")
        told = json.loads(out)
        assert (exit_code, told["version"], told["exit"], told["verb"]) == (0, 1, 0, f"lab {words[0]}")
        assert told["simulated"] is True


def test_every_screen_of_a_simulated_lab_says_so(lab: str) -> None:
    screens = (
        ("status", lab),
        ("fault", lab, "link_down", "server2/3"),
        ("truth", lab),
        ("heal", lab),
        ("down", lab),
    )
    for words in screens:
        assert "simulated: answers come from a model, not from a kernel" in _run(*words)[1].splitlines()[0], words


@pytest.mark.parametrize("verb", ["", "up", "fault", "heal", "truth", "status", "down"])
def test_help_speaks_both_languages(verb: str) -> None:
    exit_code, out, _ = _run(*([verb] if verb else []), "--help")
    assert exit_code == 0
    assert not out.isascii()
    assert all(line.isascii() or not line.strip().startswith("--") for line in out.splitlines())


def test_the_kinds_of_faults_are_listed_without_a_lab() -> None:
    exit_code, out, _ = _run("fault", "--list")
    assert (exit_code, "packet_loss DEVICE --set percent=30  packets are lost" in out) == (0, True)
    assert "设备端口丢包" in _run("fault", "--list", lang="zh")[1]
    told = json.loads(_run("fault", "--list", "--json")[1])
    assert {"kind", "title", "takes", "options", "doors", "topologies"} <= set(told["faults"][0])
    assert _run("fault", "nowhere")[0] == 2


def test_options_of_a_fault(lab: str) -> None:
    exit_code, out, _ = _run("fault", lab, "packet_loss", "server1/2", "--set", "percent=50", "--json")
    assert (exit_code, json.loads(out)["args"]) == (0, {"percent": "50"})
    exit_code, _, err = _run("fault", lab, "packet_loss", "server1/3", "--set", "percent")
    assert (exit_code, "expected KEY=VALUE" in err) == (2, True)


def test_chinese(lab: str) -> None:
    assert _run("status", lab, lang="zh")[1].startswith("方式: 模拟：应答来自模型，而非真实内核")
    assert "设备链路断开" in _run("fault", lab, "link_down", "server2/3", lang="zh")[1]


@pytest.mark.parametrize(
    ("words", "en", "zh"),
    [
        (("--servers", "0"), "1 to 250 servers, not 0", "1 到 250 台服务器，不能是 0 台"),
        (("--servers", "-3"), "not -3", "不能是 -3 台"),
        (("--servers", "3", "--topology", "direct"), "joins exactly 2 servers, not 3", "只能连接 2 台服务器"),
        (("--ssh", "openssh"), "--ssh openssh: real parts need the root door, not simulated", "真实组件需要 root 方式"),
        (("--real-firewall", "--firewall", "none"), "--real-firewall with --firewall none", "需要指定 --firewall"),
        (("--dir", ""), "--dir is empty", "--dir 为空"),
        (("--dir", "{tmp}/" + "x" * 300), "the path is too long", "路径过长"),
        (("--dir", "{tmp}" + "/yyyyyyyyy" * 420), "the path is too long", "路径过长"),
        (("--dir", "{tmp}/a:b"), "a lab's folder holds no", "不能含冒号"),
        (("--dir", "{tmp}/file"), "is no folder", "不是目录"),
        (("--dir", "{tmp}/file/lab"), "can't be made: Not a directory", "无法创建"),
        (("--dir", "/proc/lab"), "can't be made", "无法创建"),
        (("--dir", "/sys"), "can't be written", "不可写"),
    ],
)
def test_up_refuses_nonsense_in_clear_words_and_leaves_nothing(
    tmp_path: Path, words: tuple[str, ...], en: str, zh: str
) -> None:
    (tmp_path / "file").write_text("")
    asked = [w.replace("{tmp}", str(tmp_path)) for w in ("--dir", "{tmp}/lab", "--door", "simulated", *words)]
    exit_code, out, err = _run("up", *asked)
    assert (exit_code, out) == (2, "")
    assert en in err
    assert len(err.splitlines()) == 1
    assert zh in _run("up", *asked, lang="zh")[2]
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("fault", "{lab}", "nonsense", "server1"), "no fault is called nonsense"),
        (("fault", "{lab}", "firewall_on", "server1"), "behind the simulated door"),
        (("heal", "{lab}", "9"), "no fault 9"),
        (("heal", "{lab}", "9", "--all"), "not both"),
        (("up", "--dir", "{lab}"), "already runs"),
        (("up", "--dir", "{lab}2", "--servers", "0"), "1 to 250"),
        (("status", "{lab}2"), "no lab in"),
        (("down", "{lab}2"), "no lab in"),
    ],
)
def test_refusals_say_why_and_end_with_two(lab: str, words: tuple[str, ...], why: str) -> None:
    exit_code, out, err = _run(*(word.replace("{lab}", lab) for word in words))
    assert exit_code == 2
    assert why in err
    assert out == ""
