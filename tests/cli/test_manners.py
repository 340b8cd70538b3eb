"""How the program behaves towards shells, pipes, terminals and impatient people."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankready.cli._app import Said, group, misplaced
from rankready.cli._kept import kept
from rankready.cli._logins import ssh_line
from rankready.model.cluster import Login
from rankready.model.text import Lang
from rankready.runs.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Iterator

YAML = """
cluster: one
generation: a1
ssh: {{key: key, known_hosts: known_hosts}}
servers:
  - {{name: server1, ssh: "root@127.0.0.1:{port}", address: 10.0.0.1}}
parameter_plane: {{pool: 10.20.0.0/16}}
"""
SAY = """
import click, sys
from rankready.cli._ending import last_resort, run
@click.command()
def verb():
    {body}
with last_resort():
    sys.exit(run(verb))
"""


def environment(**more: str) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))} | {"LANG": "C"} | more


def run(*words: str, **more: object) -> subprocess.CompletedProcess[str]:
    options: dict[str, object] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    line = [sys.executable, "-m", "rankready", *words]
    return subprocess.run(line, check=False, text=True, **(options | more))  # type: ignore[call-overload, no-any-return]  # options are typed by hand


def shell(line: str, **more: str) -> subprocess.CompletedProcess[str]:
    words = ["/bin/bash", "-c", line.replace("rankready", f"{sys.executable} -m rankready", 1)]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment(**more))


def program(body: str, **more: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", SAY.format(body=body)]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment(), **more)  # type: ignore[call-overload, no-any-return]  # options are typed by hand


@pytest.fixture
def silent(tmp_path: Path) -> Iterator[Path]:
    """A cluster of one server that lets everybody in and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        (tmp_path / "cluster.yaml").write_text(YAML.format(port=server.getsockname()[1]))
        (tmp_path / "known_hosts").write_text("")
        yield tmp_path


# -- ends ---------------------------------------------------------------------------------------------------------


def test_our_own_mistake_is_3_with_its_traceback_and_never_1() -> None:
    done = program("raise KeyError('ours')")
    assert done.returncode == 3
    assert "KeyError: 'ours'" in done.stderr
    assert "rankready bundle" in done.stderr
    assert done.stdout == ""


def test_what_the_machine_refuses_is_one_line() -> None:
    done = program("import errno; raise OSError(errno.ENOSPC, 'No space left on device', '/some/file')")
    assert (done.returncode, done.stderr) == (3, "/some/file: no space left on device\n")
    missing = program("open('/nowhere/at/all')")
    assert "Traceback" in missing.stderr, "a file that we thought was there is our mistake"


@pytest.mark.parametrize("how", ["raise KeyboardInterrupt", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"])
def test_an_interrupt_outside_of_any_verb_is_130(how: str) -> None:
    done = program(how)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert "interrupted" in done.stderr


def test_nohups_choice_stands() -> None:
    body = SAY.format(body="import os, signal; os.kill(os.getpid(), signal.SIGHUP); print(7)")
    words = ["/bin/bash", "-c", f"trap '' HUP; exec {sys.executable} -c \"{body}\""]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment())
    assert (done.returncode, done.stdout) == (0, "7\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_verb_that_waits_for_a_silent_server_ends_at_once_and_in_order(silent: Path, number: signal.Signals) -> None:
    words = [sys.executable, "-m", "rankready", "-f", str(silent), "check"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    assert process.stderr is not None
    assert "looking at" in process.stderr.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "interrupted; nothing was changed"


def test_term_ends_what_runs_in_the_background(silent: Path) -> None:
    words = f"trap '' INT; exec {sys.executable} -m rankready -f {silent} check"
    process = subprocess.Popen(
        ["/bin/bash", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stderr is not None
    assert "looking at" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.strip().endswith("interrupted; nothing was changed")


# -- streams ------------------------------------------------------------------------------------------------------


def test_a_reader_that_leaves_changes_neither_the_work_nor_the_exit_code() -> None:
    done = shell("rankready explain | head -1; echo ${PIPESTATUS[0]}")
    assert done.stdout.splitlines() == ["CAB", "0"]
    assert done.stderr == ""
    body = "[print('x' * 70) for _ in range(5000)]; print('all', file=sys.stderr); sys.exit(1)"
    words = f'{sys.executable} -c "{SAY.format(body=body)}" | head -1 >/dev/null; exit ${{PIPESTATUS[0]}}'
    late = subprocess.run(["/bin/bash", "-c", words], capture_output=True, text=True, check=False, env=environment())
    assert (late.returncode, late.stderr) == (1, "all\n")


def test_a_full_disk_below_stdout_is_told_and_no_success() -> None:
    with Path("/dev/full").open("w") as full:
        done = run("explain", "NET001", stdout=full)
    assert (done.returncode, done.stderr) == (3, "stdout: no space left on device\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_survived(closed: str) -> None:
    done = shell(f"rankready explain NET001 {closed}")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk", "utf-8"])
def test_no_alphabet_ends_us(encoding: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rankready", "--lang", "zh", "explain", "NET001"],
        capture_output=True,
        check=False,
        env=environment(PYTHONIOENCODING=encoding),
    )
    assert done.returncode == 0
    assert done.stdout.startswith(b"NET001")
    assert not done.stderr


def test_the_language_follows_the_environment() -> None:
    assert "含义" in run("explain", "NET001", env=environment(LANG="zh_CN.UTF-8")).stdout
    assert "What it means" in run("explain", "NET001", env=environment(LANG="C")).stdout


# -- words --------------------------------------------------------------------------------------------------------


def ask(*words: str, lang: str = "en") -> tuple[int, str]:
    done = CliRunner().invoke(group, ["--lang", lang, *words], prog_name="rankready")
    return done.exit_code, done.output


def test_a_wrong_verb_or_option_names_the_nearest() -> None:
    assert ask("chek")[0] == 2
    assert "'check'" in ask("chek")[1]
    assert "--json" in ask("check", "--jsn")[1]
    assert "--help" in ask("zzzzz")[1]
    assert "没有命令" in ask("zzzzz", lang="zh")[1]


def test_help_speaks_the_language_and_says_what_exit_codes_mean() -> None:
    code, page = ask("--help", lang="zh")
    assert code == 0
    assert "完整流程" in page
    assert "退出码" in page
    assert "The whole guide" not in page
    assert "rankready demo" in ask("--help")[1]


@pytest.mark.parametrize("verb", group.list_commands(None))  # type: ignore[arg-type]  # the context is not read
def test_every_verb_explains_its_exit_codes_and_has_a_chinese_head(verb: str) -> None:
    code, page = ask(verb, "--help", lang="zh")
    assert code == 0
    assert "130" in page
    assert re.search(r"[一-鿿]", page.split("Options:")[0])
    assert "Exit codes: 0" in ask(verb, "--help")[1]


def test_options_of_ours_behind_the_script_are_named() -> None:
    told = misplaced("train.py", ("--epochs", "3", "--yes", "--json"))
    assert told is not None
    assert told.en == (
        "--yes --json stands after train.py and is passed to it; options of rankready stand before SCRIPT"
    )
    assert misplaced("train.py", ("--epochs", "3")) is None


# -- where cluster.yaml is ----------------------------------------------------------------------------------------


def test_a_folder_means_its_cluster_yaml_and_a_link_what_it_leads_to(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "cluster.yaml").write_text("")
    link = tmp_path / "link.yaml"
    link.symlink_to(real / "cluster.yaml")
    for file in (real, real / "cluster.yaml", link):
        said = Said(file=str(file), lang=Lang.EN)
        assert said.path() == real / "cluster.yaml"
        assert said.home() == real / ".rankready"


def test_no_cluster_yaml_says_how_to_get_one(tmp_path: Path) -> None:
    code, page = ask("-f", str(tmp_path / "none.yaml"), "check")
    assert code == 2
    assert "rankready init" in page
    assert "rankready demo" in page


def test_every_mistake_of_a_broken_cluster_yaml_is_told(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("cluster: x\ngeneration: a9\nfoo: 1\nservers: [a]\n")
    code, page = ask("-f", str(tmp_path), "check")
    assert code == 2
    assert "cluster.yaml:2: generation" in page
    assert "cluster.yaml:3: foo" in page


# -- what stands after an interrupt -------------------------------------------------------------------------------


def stands(verb: str, home: Path) -> str:
    told = kept(verb, home)
    return told.en if told else ""


def test_an_interrupted_apply_names_its_journal(tmp_path: Path) -> None:
    assert stands("apply", tmp_path) == "nothing was changed"
    journal = Journal.begin(tmp_path, "apply", {})
    for verb in ("apply", "up"):
        assert str(journal.path) in stands(verb, tmp_path)
        assert "apply --continue" in stands(verb, tmp_path)
    journal.write("end")
    journal.close()
    assert stands("apply", tmp_path) == "nothing was changed"


def test_only_a_look_says_that_nothing_was_changed(tmp_path: Path) -> None:
    for verb in ("check", "plan", "cabling", "firewall status"):
        assert stands(verb, tmp_path) == "nothing was changed"
    for verb in ("undo", "sync", "firewall open", "stop", "run", "up", "logs"):
        assert stands(verb, tmp_path) not in ("", "nothing was changed")
    assert stands("mesh", tmp_path).endswith("goes on from what was measured")
    assert stands("lab up", tmp_path) == "", "nothing is claimed that is not known"


# -- at a terminal ------------------------------------------------------------------------------------------------


def at_a_terminal(words: list[str], answer: bytes, cwd: Path) -> tuple[int, str]:
    """Run at a terminal of its own and type an answer at the first question."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(sys.executable, [sys.executable, "-m", "rankready", *words], environment(TERM="dumb"))  # noqa: S606  (a child of pty.fork becomes the program)
    seen, asked, limit = b"", False, time.monotonic() + 60
    while time.monotonic() < limit:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # the other end is closed: it has ended
            break
        seen += chunk  # a prompt may come in pieces
        if not asked and b"[y/N]" in seen:
            asked = True
            os.write(terminal, answer)
    else:
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


@pytest.mark.parametrize("answer", [b"n\n", b"\x03", b"\x04"], ids=["no", "ctrl-c", "end of file"])
def test_a_question_takes_ctrl_c_for_a_no(silent: Path, answer: bytes) -> None:
    (silent / "train.py").write_text("print(1)\n")
    code, seen = at_a_terminal(["stop", "20260101-000000-abcdef01"], answer, silent)
    assert code == 130
    assert "nothing was changed" in seen
    assert "\x1b" not in seen


def test_a_record_that_can_not_be_kept_hides_no_verdict(silent: Path) -> None:
    (silent / ".rankready").mkdir()
    (silent / ".rankready" / "records").write_text("a file where a folder should be")
    done = run("-f", str(silent), "check", "--only", "HST001", env=environment(RANKREADY_TRANSPORT="local"))
    assert done.returncode in (0, 1, 3)
    assert done.stdout.startswith("rankready check")
    assert "this record is not kept" in done.stderr


def test_how_to_log_in_by_hand_is_quoted_for_a_shell() -> None:
    login = Login(host="10.0.0.1", user="root", port=2222, key=Path("/a b/key"), known_hosts=Path("/k"), jump="gate:22")
    assert ssh_line(login) == "ssh -p 2222 -i '/a b/key' -o UserKnownHostsFile=/k -J gate:22 root@10.0.0.1"
    assert ssh_line(Login(host="h")) == "ssh h"
