"""One operator at a time: a lock file beside the records that tells the second who holds it, from where, since when."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import socket
from typing import TYPE_CHECKING

from rankready.model.errors import Locked
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def held(home: Path, verb: str) -> Iterator[None]:
    """Hold the cluster's lock; raises Locked naming the holder. The kernel frees it when the holder dies."""
    home.mkdir(parents=True, exist_ok=True)
    handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Locked(_holder(os.read(handle, 4096))) from None
        who = {"verb": verb, "user": getpass.getuser(), "host": socket.gethostname(), "pid": os.getpid()}
        os.ftruncate(handle, 0)
        os.write(handle, json.dumps({**who, "since": now_utc()}).encode())
        yield
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _holder(words: bytes) -> str:
    try:
        who = json.loads(words)
    except json.JSONDecodeError:
        return "someone else is changing this cluster (the lock file does not say who)"
    return (
        f"{who.get('user')} on {who.get('host')} (process {who.get('pid')}) is changing this cluster with"
        f" {who.get('verb')} since {who.get('since')}"
    )
