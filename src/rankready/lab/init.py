"""The lab's pid 1: reaps, and ends everything when its supervisor, its starter or its lease ends (facts/lab 18)."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import suppress
from typing import Any

from rankready.lab import calls, sweep


def main() -> None:
    """Fork the supervisor and keep watch. ``argv[1]`` is the lab's configuration as JSON (see engine)."""
    config: dict[str, Any] = json.loads(sys.argv[1])
    # Without a pid namespace nothing ends with us, so there are two of us: each ends everything when the other dies.
    outer = _stand_above(config) if config["simulated"] else None
    wake, poke = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(poke)
    signal.signal(signal.SIGCHLD, _noticed)
    if config["simulated"]:
        calls.adopt_orphans()
    supervisor = os.fork()
    if supervisor == 0:
        _become_supervisor(config)
    _close_supervisors(config)
    _watch(
        [fd for fd in (config["birth"], config["lease"], outer) if fd is not None], config["birth"], supervisor, wake
    )
    if config["simulated"]:
        sweep.end_tagged(config["id"], but=frozenset({os.getpid()}))
    os._exit(0)


def _stand_above(config: dict[str, Any]) -> int:
    """Fork; the child goes on with a pipe that closes when its parent dies, the parent outlives all below it."""
    calls.adopt_orphans()
    outer, hold = os.pipe()
    inner = os.fork()
    if inner == 0:
        os.close(hold)
        return outer
    os.close(outer)
    _close_supervisors(config)
    while os.waitpid(-1, 0)[0] != inner:
        pass
    sweep.end_tagged(config["id"], but=frozenset({os.getpid()}))
    os._exit(0)


def _close_supervisors(config: dict[str, Any]) -> None:
    """Let go of what only the supervisor may hold: the far end tells by it whether the lab lives."""
    for fd in (config["status"], config["control"], *config["listeners"]):
        os.close(fd)


def _become_supervisor(config: dict[str, Any]) -> None:
    from rankready.lab import supervisor  # noqa: PLC0415  (pid 1 stays small: it never loads the SSH server)

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    calls.end_with_parent(signal.SIGKILL)
    try:
        supervisor.run(config)
    finally:
        os._exit(1)


def _watch(pipes: list[int], birth: int, supervisor: int, wake: int) -> None:
    """Return when the supervisor is gone, or a pipe closed: lease run out, starter or the one above us dead.

    The starter's pipe no longer counts once it said that it saw the lab stand.
    """
    poll = select.poll()
    for fd in (wake, *pipes):
        poll.register(fd, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == wake:
                if supervisor in _reaped(wake):
                    return
            elif not os.read(fd, 64):
                return
            elif fd == birth:
                poll.unregister(fd)


def _reaped(wake: int) -> set[int]:
    with suppress(BlockingIOError):
        os.read(wake, 512)
    ended = set()
    with suppress(ChildProcessError):
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            ended.add(pid)
    return ended


def _noticed(_number: int, _frame: object) -> None:
    """Be a handler, so that the signal wakes the poll."""


if __name__ == "__main__":
    main()
