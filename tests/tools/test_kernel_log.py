"""What the kernel's log says of NPUs, read by the question's own script over a log that a test wrote."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from rankready.model.cluster import Login, Server
from rankready.model.command import Command, Reply
from rankready.model.observed.chips import Assertion, NpuEvent, NpuEvents
from rankready.model.snapshot import Gap, GapKind
from rankready.tools import kernel_log

if TYPE_CHECKING:
    from pathlib import Path

SERVER = Server(name="server1", login=Login(host="server1"))
(QUESTION,) = kernel_log.QUESTIONS
BOOT = "[    0.000000] Linux version 5.10.0\n"
OLD = (
    "[  411.11] [ascend] [ERROR] [dms_module] [dms_event_print 233] <dmp_daemon:1:1> "
    "Event id=0x80e01801, dev_id=3, assertion={}\n"
)
NEW = (
    "[  412.00] [fault_manager] event_id=0x81078605; device_id=2; node_type=0x83[PORT]; severity=2[Alarm]; "
    "assertion=1[Event occur]; event_raised_time=1711111111000\n"
)
LOST = "[  413.00] [drv_soft_fault] Heartbeat lost! (device_id=5; status=1)\n"


def said(out: str, err: str = "", status: int | None = 0) -> Reply:
    return Reply(command=Command(argv=("x",)), stdout=out, stderr=err, exit=status)


def asked(folder: Path, log: str, *, status: int = 0) -> object:
    """Ask by the question's own script on a server whose dmesg prints this."""
    (folder / "log").write_bytes(log.encode("latin-1"))
    tool = folder / "dmesg"
    tool.write_text(f"#!/bin/sh\ncat {folder}/log\nexit {status}\n")
    tool.chmod(0o755)
    command = QUESTION.ask(SERVER, SERVER.place)
    done = subprocess.run(
        ("sh", "-c", command.shell, "sh", *command.argv),
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    reply = Reply(command=command, stdout=done.stdout, stderr=done.stderr, exit=done.returncode)
    return QUESTION.read(reply, SERVER.place)


def event(code: str, device: int | None, assertion: Assertion) -> NpuEvent:
    return NpuEvent(code=code, device=device, assertion=assertion)


def test_events_of_both_forms_and_a_lost_heartbeat_are_read_in_order(tmp_path: Path) -> None:
    noise = "[    1.0] usb 1-1: new device\n" * 50
    log = BOOT + noise + OLD.format(1) + noise + NEW + OLD.format(0) + LOST
    assert asked(tmp_path, log) == NpuEvents(
        events=(
            event("0x80E01801", 3, Assertion.OCCURRED),
            event("0x81078605", 2, Assertion.OCCURRED),
            event("0x80E01801", 3, Assertion.RESUMED),
            event("0x40F84E00", 5, Assertion.OCCURRED),
        )
    )


def test_a_log_without_events_is_a_fact(tmp_path: Path) -> None:
    assert asked(tmp_path, BOOT + "[    1.0] usb 1-1: new device\n") == NpuEvents(events=())


def test_an_event_on_the_first_line_of_a_log_that_wrapped_is_read(tmp_path: Path) -> None:
    assert asked(tmp_path, OLD.format(1) + BOOT) == NpuEvents(events=(event("0x80E01801", 3, Assertion.OCCURRED),))


def test_a_very_long_log_gives_its_latest_events(tmp_path: Path) -> None:
    found = asked(tmp_path, BOOT + OLD.format(1) * 2000 + OLD.format(0))
    assert isinstance(found, NpuEvents)
    assert len(found.events) == 400
    assert found.events[-1].assertion is Assertion.RESUMED


def test_bytes_that_no_terminal_should_see_do_not_hide_an_event(tmp_path: Path) -> None:
    log = BOOT + OLD.format(1).replace("<dmp", "\x1b[2J\xff<dmp")
    assert asked(tmp_path, log) == NpuEvents(events=(event("0x80E01801", 3, Assertion.OCCURRED),))


@pytest.mark.parametrize(
    ("log", "status", "kind"),
    [
        ("", 0, GapKind.UNKNOWN),
        ("dmesg: read kernel buffer failed: Operation not permitted\n", 1, GapKind.DENIED),
        ("dmesg: klogctl: Permission denied\n", 1, GapKind.DENIED),
    ],
    ids=["empty", "not permitted", "denied"],
)
def test_a_log_that_was_not_read_is_a_gap(tmp_path: Path, log: str, status: int, kind: GapKind) -> None:
    gap = asked(tmp_path, log, status=status)
    assert isinstance(gap, Gap)
    assert gap.kind is kind


@pytest.mark.parametrize(
    "reply",
    [
        said("", "", None),
        said(""),
        said("what?\n"),
        said("first=x\n"),
        said("first=x\nend\n", "oops\n"),
        said("end", "", 0),
    ],
    ids=["no end", "nothing", "other words", "cut", "stderr", "no newline"],
)
def test_words_that_we_do_not_know_are_a_gap(reply: Reply) -> None:
    assert isinstance(kernel_log.read(reply), Gap)


def test_no_dmesg_is_told_apart() -> None:
    gap = kernel_log.read(said("none\n"))
    assert isinstance(gap, Gap)
    assert gap.kind is GapKind.UNSUPPORTED
