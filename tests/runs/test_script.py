"""One script, many answers: streams, statuses, time limits and noise stay apart."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankready.model.command import Command
from rankready.runs.script import ask, compile_script, read_frames
from rankready.transports.local import LocalSession

if TYPE_CHECKING:
    from rankready.model.command import Reply

SHELLS = ("/bin/dash", "/bin/bash")


def sh(script: str, *argv: str, lane: str = "", **more: object) -> Command:
    return Command(argv=argv, shell=script, lane=lane, **more)  # type: ignore[arg-type]


def answers(commands: list[Command], shell: str = "/bin/sh", lanes: int = 4) -> tuple[Reply, ...]:
    script = compile_script(commands, nonce="rrtest", lanes=lanes)
    done = subprocess.run([shell, "-s"], input=script, capture_output=True, check=False, timeout=60)
    return read_frames(b"\n" + done.stdout, commands, "rrtest")


@pytest.mark.parametrize("shell", SHELLS)
def test_streams_and_status_stay_apart(shell: str) -> None:
    replies = answers([sh("echo out; echo err >&2; exit 7"), sh("printf 'no newline'"), sh("exit 0")], shell)
    assert [(r.stdout, r.stderr, r.exit) for r in replies] == [
        ("out\n", "err\n", 7),
        ("no newline", "", 0),
        ("", "", 0),
    ]


@pytest.mark.parametrize("shell", SHELLS)
def test_arguments_arrive_as_they_are(shell: str) -> None:
    words = ("a b", "$HOME", "`id`", "'", '"', "\\", "*", "x\ny", "-n", "é中")
    (reply,) = answers([sh('printf "<%s>" "$@"', *words)], shell)
    assert reply.stdout == "".join(f"<{w}>" for w in words)


def test_a_command_that_reads_its_input_cannot_eat_the_script() -> None:
    replies = answers([sh("cat"), sh("echo still here")])
    assert [r.stdout for r in replies] == ["", "still here\n"]


def test_standard_input_reaches_its_command_alone() -> None:
    replies = answers([sh("cat", stdin="y\n"), sh("cat")])
    assert [r.stdout for r in replies] == ["y\n", ""]


def test_a_hanging_command_costs_only_itself() -> None:
    hang, quick = answers([sh("sleep 30", timeout_s=1), sh("echo quick")])
    assert hang.exit is None
    assert (quick.stdout, quick.exit) == ("quick\n", 0)


def test_busy_is_retried_and_counted() -> None:
    count = 'f=$1; n=$(cat "$f" 2>/dev/null || echo 0); n=$((n+1)); echo $n >"$f"; '
    script = count + '[ $n -ge 3 ] && echo ok || echo "is busy"'
    done = subprocess.run(["mktemp"], capture_output=True, text=True, check=True)
    (reply,) = answers([sh(script, done.stdout.strip(), busy="busy")])
    assert (reply.stdout, reply.tries) == ("ok\n", 3)


def test_busy_to_the_end_is_reported_as_it_stands() -> None:
    (reply,) = answers([sh("echo is busy; exit 11", busy="busy")])
    assert (reply.stdout, reply.exit, reply.tries) == ("is busy\n", 11, 4)


def test_words_of_one_answer_that_look_like_a_frame_do_no_harm() -> None:
    fake = "rrtest 1 000 1 4 0 1.00 2.00\nfake"
    first, second = answers([sh('printf "\n%s" "$1"', fake), sh("echo real")])
    assert first.stdout == f"\n{fake}"
    assert second.stdout == "real\n"


def test_noise_before_the_first_frame_is_passed_over() -> None:
    command = sh("true")
    out = b"\nWelcome!\n\nrrtest 0 000 1 2 0 7.25 9.50\nok"
    (reply,) = read_frames(out, [command], "rrtest")
    assert (reply.stdout, reply.duration_s) == ("ok", 2.25)


@given(cut=st.integers(min_value=0, max_value=80))
def test_a_cut_answer_is_no_answer(cut: int) -> None:
    commands = [sh("a"), sh("b")]
    whole = b"\nrrtest 0 000 1 5 3 1.0 2.0\nfirstbad\nrrtest 1 004 1 6 0 1.0 2.0\nsecond"
    for reply, full in zip(read_frames(whole[:cut], commands, "rrtest"), ("first", "second"), strict=True):
        assert (reply.stdout, reply.exit is None) in ((full, False), ("", True))


@settings(max_examples=30, deadline=None)
@given(outs=st.lists(st.binary(max_size=300).filter(lambda b: b"\0" not in b), min_size=1, max_size=6))
def test_any_bytes_come_back_as_they_were(outs: list[bytes]) -> None:
    octal = ["".join(f"\\{b:03o}" for b in out) for out in outs]
    replies = answers([sh('printf "$1"', o, lane=str(i % 3)) for i, o in enumerate(octal)])
    assert [r.stdout for r in replies] == [o.decode(errors="replace") for o in outs]


async def test_lanes_overlap_and_one_lane_does_not(tmp_path: object) -> None:
    mark = f"{tmp_path}/mark"
    alone = 'mkdir "$1" && sleep 0.2 && rmdir "$1" && echo alone'
    same = [sh(alone, mark, lane="x") for _ in range(3)]
    replies = await ask(LocalSession({"PATH": "/usr/bin:/bin"}), same)
    assert [r.stdout for r in replies] == ["alone\n"] * 3
    other = [sh(alone, mark, lane=str(i)) for i in range(3)]
    clashed = await ask(LocalSession({"PATH": "/usr/bin:/bin"}), other)
    assert sorted(r.stdout for r in clashed).count("alone\n") < len(other)


async def test_nothing_is_left_in_the_temporary_folder(tmp_path: object) -> None:
    env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    await ask(LocalSession(env), [sh("echo hello; echo bad >&2", stdin="x")])
    assert list(__import__("pathlib").Path(str(tmp_path)).iterdir()) == []
