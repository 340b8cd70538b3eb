"""Which ranks hold a connection to the master port, read off real sockets and processes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from guarded_job import eventually

from rankready.runs.data import reached
from rankready.runs.data.reached import Reached, joined, rank_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOIN = "import socket, sys, time; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); time.sleep(60)"
WAIT = "import time; time.sleep(60)"


@pytest.fixture
def master() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@contextlib.contextmanager
def rank(number: int, program: str, port: int) -> Iterator[int]:
    env = {**os.environ, "RANK": str(number)}
    process = subprocess.Popen([sys.executable, "-I", "-S", "-c", program, str(port)], env=env)
    try:
        yield process.pid
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def test_a_rank_that_joined_is_told_from_one_that_did_not(
    master: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reached, "EVERY_S", 0.0)
    port = port_of(master)
    seen = Reached(port, 2)
    with rank(5, JOIN, port) as joins, rank(6, WAIT, port) as waits:
        pids = {joins: 0, waits: 0}
        events: list[dict[str, object]] = []

        def looked(members: dict[int, int], count: int) -> bool:
            events.extend(seen.look(lambda: members))
            return len(events) >= count

        assert eventually(lambda: looked(pids, 1))
        assert [e["held"] for e in events] == [[5]]
        assert seen.look(lambda: pids) == []
    assert eventually(lambda: looked({}, 2))
    assert (events[-1]["held"], list(seen.first)) == ([], [5])


def test_a_socket_seen_before_its_process_is_known_is_looked_at_again(
    master: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reached, "EVERY_S", 0.0)
    monkeypatch.setattr(reached, "AGAIN_S", 0.0)
    port = port_of(master)
    seen = Reached(port, 1)
    with rank(3, JOIN, port) as pid:
        assert eventually(lambda: not seen.look(dict) and len(seen.inodes) > 1)  # the listener is one of them
        assert eventually(lambda: bool(seen.look(lambda: {pid: 0})))
    assert seen.held == {3}


def test_it_looks_no_more_once_all_came(master: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reached, "EVERY_S", 0.0)
    port = port_of(master)
    seen = Reached(port, 1)
    with rank(0, JOIN, port) as pid:
        assert eventually(lambda: bool(seen.look(lambda: {pid: 0})))
    assert seen.look(lambda: pytest.fail("nobody is to be looked at")) == []


def test_a_job_without_a_master_port_is_not_looked_at() -> None:
    assert Reached(0, 8).look(lambda: pytest.fail("nobody is to be looked at")) == []


def test_listeners_and_connections_to_the_port_count_and_nothing_else(tmp_path: Path) -> None:
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    row = "   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000     0        0 {inode} 1\n"
    port = "733C"  # 29500
    rows = [
        row.format(local="0100007F:" + port, remote="00000000:0000", state="0A", inode=1),
        row.format(local="0100007F:9000", remote="0100007F:" + port, state="01", inode=2),
        row.format(local="0100007F:" + port, remote="0100007F:9000", state="01", inode=3),
        row.format(local="0100007F:9001", remote="0100007F:" + port, state="02", inode=4),
        row.format(local="0100007F:9000", remote="0100007F:9999", state="01", inode=5),
    ]
    (tmp_path / "tcp").write_text(head + "".join(rows))
    assert joined(29500, tmp_path) == {"socket:[1]", "socket:[2]"}
    assert joined(29500, tmp_path / "none") == set()


def test_an_agent_is_no_rank() -> None:
    assert rank_in(b"PATH=/bin\0RANK=11\0") == {11}
    assert rank_in(b"MS_ROLE=MS_WORKER\0RANK_ID=3\0") == {3}
    assert rank_in(b"PATH=/bin\0LOCAL_RANK=1\0RANK=x\0") == set()
