"""The two ends of a connection test leave the job's ports as they found them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

from rankready.runs import data

PROBE = Path(next(iter(data.__path__))) / "port_probe.py"


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_the_port_can_be_bound_at_once_without_reuse() -> None:
    port = free_port()
    request = {"nonce": "n1", "version": 4, "seconds": 30, "ports": [port]}
    head = json.dumps(request).encode()
    with subprocess.Popen([sys.executable, str(PROBE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ear:
        assert ear.stdin is not None
        assert ear.stdout is not None
        ear.stdin.write(b"%d\n%b" % (len(head), head))
        ear.stdin.flush()
        assert ear.stdout.readline() == b"\n"
        said = json.loads(ear.stdout.readline().partition(b" ")[2])
        assert said["busy"] == []
        targets = [["127.0.0.1", port], ["127.0.0.1", said["free"]], ["127.0.0.1", free_port()]]
        asked = json.dumps({"nonce": "n2", "targets": targets, "timeout_s": 5})
        done = subprocess.run([sys.executable, str(PROBE), asked], capture_output=True, check=True)
        assert json.loads(done.stdout.split(b"n2 ")[1])["results"] == ["ok", "ok", "refused"]
        ear.stdin.write(b"\n")
        ear.stdin.flush()
        assert ear.stdout.readline() == b"\n"
        assert json.loads(ear.stdout.readline().partition(b" ")[2]) == {"gone": True}
        with socket.socket() as plain:  # as a program that does not ask for SO_REUSEADDR
            plain.bind(("0.0.0.0", port))  # noqa: S104  (the probe listens there too)
    assert ear.returncode == 0
