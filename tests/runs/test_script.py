"""One script, many answers: streams, statuses, time limits and noise stay apart."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankready.model.command import Command
from rankready.runs.script import Frames, ask, compile_script, read_frames, stream
from rankready.transports.local import LocalSession

if TYPE_CHECKING:
    from pathlib import Path

    from rankready.model.command import Reply

SHELLS = ("/bin/dash", "/bin/bash")


def sh(script: str, *argv: str, lane: str = "", **more: object) -> Command:
    return Command(argv=argv, shell=script, lane=lane, **more)  # type: ignore[arg-type]


def answers(commands: list[Command], shell: str = "/bin/sh", lanes: int = 4, before: bytes = b"") -> tuple[Reply, ...]:
    script = before + compile_script(commands, nonce="rrtest", lanes=lanes)
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


@pytest.mark.parametrize("shell", SHELLS)
def test_an_owner_that_stays_busy_is_given_less_until_it_answers(shell: str, tmp_path: Path) -> None:
    told = sh('[ -e "$1" ] && echo well || echo is busy', str(tmp_path / "free"), busy="busy", owner="device0")
    free = sh(': >"$1"', str(tmp_path / "free"), owner="device1")
    taken = sh('rm "$1"', str(tmp_path / "free"), owner="device1")
    other = sh("echo is busy", busy="busy", owner="device2")
    nobody = [sh("echo is busy", busy="busy")] * 2
    replies = answers(
        [told, told, told, free, told, taken, told, told, other, *nobody], shell, before=b"sleep() { :; }\n"
    )
    assert [r.tries for r in replies] == [4, 2, 2, 1, 1, 1, 4, 2, 4, 4, 4]


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


@settings(max_examples=30)
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


def test_an_owner_that_hangs_twice_is_asked_no_more_and_others_are() -> None:
    hang = [sh("sleep 30", timeout_s=1, owner="device0") for _ in range(4)]
    replies = answers([*hang, sh("echo well", owner="device1"), sh("echo nobody")])
    assert [(r.exit, r.tries) for r in replies[:4]] == [(None, 1), (None, 1), (None, 0), (None, 0)]
    assert [r.stdout for r in replies[4:]] == ["well\n", "nobody\n"]


def test_when_the_scripts_time_is_up_nothing_more_is_started() -> None:
    commands = [sh("sleep 2", timeout_s=5), sh("echo late")]
    script = compile_script(commands, nonce="rrtest", lanes=1, within_s=1)
    done = subprocess.run(["/bin/sh", "-s"], input=script, capture_output=True, check=False, timeout=30)
    first, late = read_frames(done.stdout, commands, "rrtest")
    assert (first.exit, first.tries) == (0, 1)
    assert (late.exit, late.tries, late.stdout) == (None, 0, "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("gather_s", [0, 1])
def test_workers_that_speak_at_once_do_not_mix_their_words(shell: str, gather_s: int) -> None:
    text = "".join(f"line {n} of many\n" for n in range(400))
    commands = [sh('printf %s "$1"', f"{i} {text}", lane=str(i % 4)) for i in range(24)]
    script = compile_script(commands, nonce="rrtest", lanes=4, gather_s=gather_s)
    done = subprocess.run([shell, "-s"], input=script, capture_output=True, check=False, timeout=60)
    replies = read_frames(done.stdout, commands, "rrtest")
    assert [r.stdout for r in replies] == [f"{i} {text}" for i in range(24)]


@given(sizes=st.lists(st.integers(min_value=1, max_value=60), min_size=1, max_size=8))
def test_frames_are_read_the_same_however_they_arrive(sizes: list[int]) -> None:
    commands = [sh("a"), sh("b")]
    whole = b"noise\nrrx 1 000 1 5 3 1.0 2.0\nfirstbad\nrrx 0 004 1 6 0 1.0 2.0\nsecond\nrrx end\n"
    frames = Frames(commands, "rrx")
    found: list[tuple[int, str]] = []
    at = 0
    for size in [*sizes, len(whole)]:
        found += [(index, reply.stdout) for index, reply in frames.feed(whole[at : at + size])]
        at += size
    assert found == [(1, "first"), (0, "second")]
    assert frames.ended


async def test_a_stream_yields_what_came_before_the_script_was_killed() -> None:
    leader = "kill -9 $(cut -d' ' -f6 /proc/self/stat); sleep 1"  # the script's own shell, which leads its session
    commands = [sh("echo one"), sh("echo two"), sh(leader), sh("echo never")]
    session = LocalSession({"PATH": "/usr/bin:/bin"})
    found = [(index, reply.stdout) async for index, reply in stream(session, commands)]
    assert found[:2] == [(0, "one\n"), (1, "two\n")]
    assert all(index < 3 for index, _ in found)
