"""What a controller asks of a guard, through the real file."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from guarded_job import NONCE, GuardedJob, eventually

from rankready.model.ranks import OWN_NIC
from rankready.runs import guard_file


def texts(frames: list[dict[str, object]], stream: str) -> str:
    parts = [base64.b64decode(str(f["data"])) for f in frames if f["event"] == "output" and f["stream"] == stream]
    return b"".join(parts).decode()


def one(frames: list[dict[str, object]], event: str) -> dict[str, object]:
    return next(f for f in frames if f["event"] == event)


def test_a_watch_tells_output_exits_and_the_end_in_this_order(tmp_path: Path) -> None:
    job = GuardedJob(
        tmp_path, [["sh", "-c", "echo out; echo err >&2; exit 0"], ["sh", "-c", "kill -9 $$"]], fail_hold_s=0
    )
    ready = job.start()
    frames = job.watched()
    assert (ready["event"], ready["reaper"]) == ("ready", True)
    assert texts(frames, "train/rank-0.log") == "out\nerr\n"
    exits = {f["local_rank"]: (f["exit"], f["signal"]) for f in frames if f["event"] == "exited"}
    assert exits == {0: (0, None), 1: (None, 9)}
    assert frames[0]["event"] == "ready"
    assert [f["event"] for f in frames][-2:] == ["left", "ended"]
    output = next(i for i, f in enumerate(frames) if f["event"] == "output")
    assert output < next(i for i, f in enumerate(frames) if f["event"] == "exited" and f["local_rank"] == 0)


def test_a_second_watch_goes_on_where_the_first_stopped(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["sh", "-c", "printf 0123456789"]])
    job.start()
    assert texts(job.watched(), "train/rank-0.log") == "0123456789"
    assert texts(job.watched({"train/rank-0.log": 4}), "train/rank-0.log") == "456789"


def test_a_job_is_never_started_twice(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["true"]])
    job.start()
    again = job.script(guard_file.start_script(job.job, job.spec, NONCE))
    assert again.returncode == 17
    sha = [guard_file.digest((job.folder / n).read_bytes()) for n in ("guard.py", "spec.json")]
    said = job.ask("start", str(job.folder), *sha)
    assert (said["event"], said["reason"]) == ("refused", "this job was started before")


def test_files_that_did_not_arrive_whole_are_refused(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["true"]])
    script = guard_file.start_script(job.job, job.spec, NONCE)
    done = job.script(script.replace(b'"grace_s": 1', b'"grace_s": 2'))
    said = guard_file.read_answer(done.stdout, NONCE)
    assert said == {"event": "refused", "reason": "spec.json did not arrive whole"}
    assert not (job.folder / "state").exists()


def test_a_program_that_is_not_there_ends_with_127_and_says_so(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["no-such-program"]], fail_hold_s=0)
    job.start()
    frames = job.watched()
    assert one(frames, "exited")["exit"] == 127
    assert "cannot start no-such-program" in texts(frames, "train/rank-0.log")


def test_a_rank_gets_a_clean_environment_its_tags_and_no_input(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["sh", "-c", "env; cat; ls -l /proc/self/fd | grep -c socket"]])
    job.env.update(RANK="77", MS_ROLE="MS_SCHED", KEPT="yes", OMP_NUM_THREADS="8")
    rank = job.spec["ranks"][0]
    rank["unset"], rank["env"] = ["RANK", "MS_*"], {"RANK": "0", "LOGS": "${RANKREADY_JOB_FOLDER}/ascend"}
    rank["defaults"] = {"OMP_NUM_THREADS": "1", "OTHER": "1"}
    job.start()
    lines = texts(job.watched(), "train/rank-0.log").splitlines()
    assert {"RANK=0", "KEPT=yes", "OMP_NUM_THREADS=8", "OTHER=1", "SPT_NOENV=1"} <= set(lines)
    assert {f"RANKREADY_JOB={job.job}", f"LOGS={job.folder}/ascend"} <= set(lines)
    assert not [x for x in lines if x.startswith(("MS_ROLE", "RANKREADY_GUARD"))]


def test_a_setup_file_is_sourced_first_and_its_failure_ends_the_rank(tmp_path: Path) -> None:
    good, bad = tmp_path / "set_env.sh", tmp_path / "broken.sh"
    good.write_text('FROM_SETUP="args:$#"; export FROM_SETUP\n')
    bad.write_text("return 5\n")
    job = GuardedJob(tmp_path / "a", [["sh", "-c", 'echo $FROM_SETUP "$1"', "x", "own"]], setup=str(good))
    job.start()
    assert texts(job.watched(), "train/rank-0.log") == "args:0 own\n"
    job = GuardedJob(tmp_path / "b", [["echo", "never"]], setup=str(bad), fail_hold_s=0)
    job.start()
    frames = job.watched()
    assert one(frames, "exited")["exit"] == 126
    assert "failed with 5" in texts(frames, "train/rank-0.log")


def test_a_setup_file_does_not_override_what_the_job_is_given(tmp_path: Path) -> None:
    setup = tmp_path / "set_env.sh"
    setup.write_text("export RANK=99 MINE=setup MASTER_PORT=1 KEPT=setup\n")
    job = GuardedJob(
        tmp_path / "home", [["sh", "-c", 'echo "$RANK $MINE $KEPT ${MASTER_PORT-none}"']], setup=str(setup)
    )
    rank = job.spec["ranks"][0]
    rank["env"], rank["unset"] = {"RANK": "0", "MINE": "it's; $(echo no)\nsecond"}, ["MASTER_PORT"]
    job.start()
    assert texts(job.watched(), "train/rank-0.log") == "0 it's; $(echo no)\nsecond setup none\n"
    assert (job.folder / "env-0.sh").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("address", "nic"), [("127.0.0.1", "lo"), ("::1", "lo"), ("192.0.2.77", "none")])
def test_a_rank_learns_the_interface_that_carries_its_servers_address(tmp_path: Path, address: str, nic: str) -> None:
    if address == "::1" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 here")
    job = GuardedJob(tmp_path, [["sh", "-c", 'echo "${GLOO_SOCKET_IFNAME-none}"']], address=address)
    job.spec["ranks"][0]["env"] = {"GLOO_SOCKET_IFNAME": OWN_NIC}
    job.start()
    assert texts(job.watched(), "train/rank-0.log") == f"{nic}\n"


def test_a_rank_that_prints_without_end_silences_nobody(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["yes"], ["sh", "-c", "echo here; exit 3"]], fail_hold_s=0, log_limit=4 << 20)
    job.start()
    try:
        frames = job.watched()
        assert texts(frames, "train/rank-1.log") == "here\n"
        assert one(frames, "ended")["cause"] == "rank_failed"
    finally:
        job.end()


def test_an_order_over_the_watch_stops_the_job_and_is_told_before_its_ranks_end(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["sleep", "600"]])
    job.start()
    try:
        watch = job.watch()
        out = _order(watch, b"stop 1\n")
        frames = [f for line in out.splitlines() if (f := guard_file.frame(line, NONCE)) is not None]
        events = [f["event"] for f in frames if f["event"] not in ("beat", "output")]
        assert events == ["ready", "started", "stopping", "exited", "left", "ended"]
        assert (one(frames, "stopping")["cause"], one(frames, "exited")["signal"]) == ("stop", 15)
    finally:
        job.end()


def _order(watch: subprocess.Popen[bytes], words: bytes) -> bytes:
    assert watch.stdin is not None
    assert watch.stdout is not None
    watch.stdin.write(words)
    out = watch.stdout.read()
    watch.stdin.close()
    watch.wait(timeout=30)
    return out


def test_a_beat_is_answered_with_the_servers_clock(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["sleep", "600"]])
    job.start()
    try:
        watch = job.watch()
        assert watch.stdin is not None
        assert watch.stdout is not None
        before = (job.folder / "lease").stat().st_mtime_ns
        watch.stdin.write(b".\n")
        frames: list[dict[str, object]] = []
        while not any(f["event"] == "beat" for f in frames):
            found = guard_file.frame(watch.stdout.readline().strip(), NONCE)
            frames += [found] if found else []
        assert isinstance(one(frames, "beat")["clock"], float)
        assert (job.folder / "lease").stat().st_mtime_ns > before
        watch.stdin.close()
        watch.stdout.read()
        watch.wait(timeout=30)
    finally:
        job.end()


def test_a_lease_that_is_a_link_counts_for_nothing(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["sleep", "600"]], lease_s=1)
    job.start()
    (job.folder / "lease").unlink()
    (job.folder / "lease").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_text("")
    assert eventually(lambda: job.ended is not None)
    assert job.ended is not None
    assert job.ended["cause"] == "lease"


def test_jobs_tells_phases_and_ends(tmp_path: Path) -> None:
    done = GuardedJob(tmp_path, [["sh", "-c", "exit 0"]])
    done.start()
    done.watched()
    runs = GuardedJob(tmp_path, [["sleep", "600"]])
    runs.start()
    try:
        told = {j["job"]: j for j in runs.ask("jobs", guard_file.JOBS)["jobs"]}
        assert told[done.job]["phase"] == "ended"
        assert told[runs.job]["phase"] == "running"
        runs.kill("guard")
        assert eventually(lambda: runs.ended is not None)
        told = {j["job"]: j for j in runs.ask("jobs", guard_file.JOBS)["jobs"]}
        assert (told[runs.job]["phase"], told[runs.job]["cause"]) == ("ended", "guard_died")
    finally:
        runs.end()


def test_a_watch_does_what_both_dead_guards_can_not(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["sleep", "600"]])
    job.start()
    job.kill("guardian")
    if job.ended is None:
        job.kill("guard")
    frames = job.watched()
    assert one(frames, "ended")["cause"] in ("guard_gone", "guardian_died")


def test_port_tells_whether_something_listens(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path, [["true"]])
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = str(sock.getsockname()[1])
        assert job.ask("port", port, "0.1")["listens"] is False
        sock.listen()
        assert job.ask("port", port, "5")["listens"] is True


def _older_pythons() -> list[str]:
    found = []
    for minor in (7, 8, 9, 13):
        kept = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3"))
        program = str(kept[0]) if kept else shutil.which(f"python3.{minor}")
        if program and subprocess.run([program, "-c", ""], check=False, capture_output=True).returncode == 0:
            found.append(program)
    return found


@pytest.mark.parametrize("program", _older_pythons() or [pytest.param("", marks=pytest.mark.skip("no other Python"))])
def test_servers_may_have_an_older_python(tmp_path: Path, program: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    real = subprocess.run(
        [program, "-c", "import sys; print(sys.executable)"], check=True, capture_output=True, text=True
    )
    (folder / "python3").symlink_to(real.stdout.strip())
    job = GuardedJob(tmp_path / "home", [["sh", "-c", "echo hi; exit 4"], ["sleep", "600"]], fail_hold_s=0)
    job.env["PATH"] = f"{folder}:{os.environ['PATH']}"
    assert job.start()["event"] == "ready"
    frames = job.watched()
    assert one(frames, "ended")["cause"] == "rank_failed"
    assert texts(frames, "train/rank-0.log") == "hi\n"


def test_a_job_whose_guards_and_processes_are_all_gone_has_ended(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path / "home", [["sleep", "600"]])
    try:
        assert job.start()["event"] == "ready"
        state = job.state
        for who in (state["guardian"][0], state["guard"][0]):
            os.kill(who, signal.SIGSTOP)
        for who in (state["guardian"][0], state["guard"][0]):
            os.kill(who, signal.SIGKILL)
        assert eventually(lambda: job.ask("poll", str(job.folder))["phase"] == "unguarded")
        os.kill(state["ranks"][0]["pid"], signal.SIGKILL)
        assert eventually(lambda: job.ask("poll", str(job.folder))["phase"] == "ended")
        assert job.ask("poll", str(job.folder))["cause"] == "guard_gone"
    finally:
        job.end()


def test_a_swept_job_has_ended(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path / "home", [["sleep", "600"]])
    try:
        assert job.start()["event"] == "ready"
        assert job.ask("sweep", job.job)["left"] == []
        assert job.ended is not None
        assert (job.ended["cause"], job.ask("poll", str(job.folder))["phase"]) == ("guard_gone", "ended")
    finally:
        job.end()


def test_a_job_from_before_the_servers_restart_has_ended(tmp_path: Path) -> None:
    job = GuardedJob(tmp_path / "home", [["true"]])
    job.folder.mkdir(parents=True)
    identity = [1, 0]
    state = {"job": job.job, "guard": identity, "guardian": identity, "boot_id": "another", "ranks": [], "registry": {}}
    (job.folder / "state").write_text(json.dumps(state))
    told = job.ask("poll", str(job.folder))
    assert (told["phase"], told["cause"]) == ("ended", "restarted")
