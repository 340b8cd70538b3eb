"""Both ends of a real connection test between servers; run by the servers' own python3 (3.7 or later).

``listen`` (request on stdin): listens on the ports, answers which were taken already and which free one it added, and
goes away at the end of its input or after ``seconds``. ``connect`` (request in argv): tries every target at once and
answers a word for each: ok, refused, timeout, or what the system says.
"""

from __future__ import annotations

import errno
import json
import selectors
import socket
import struct
import sys
import time
from typing import Any

BATCH = 256  # sockets open at a time
WORDS = {
    errno.ECONNREFUSED: "refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network unreachable",
    errno.ETIMEDOUT: "timeout",
    errno.ECONNRESET: "reset",
}


def tell(nonce: str, body: dict[str, Any]) -> None:
    """Print the one line of an answer."""
    sys.stdout.write(f"\n{nonce} {json.dumps(body)}\n")
    sys.stdout.flush()


def listener(family: int, port: int) -> socket.socket:
    """Listen on every address of this host."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("::" if family == socket.AF_INET6 else "", port))
        sock.listen(128)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def let_go(sock: socket.socket) -> None:
    """Close by a reset: else the kernel keeps the job's own port in TIME_WAIT for a minute (tcp(7))."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def listen(request: dict[str, Any]) -> None:
    """Hold the ports until our input says something or ends; the last line says that they are free again."""
    family = socket.AF_INET6 if request["version"] == 6 else socket.AF_INET  # noqa: PLR2004  (IP's own number)
    ears, busy = [], []
    for port in request["ports"]:
        try:
            ears.append(listener(family, port))
        except OSError:
            busy.append(port)  # whoever listens there answers in our place
    ears.append(listener(family, 0))
    tell(request["nonce"], {"busy": busy, "free": ears[-1].getsockname()[1]})
    peers: list[socket.socket] = []
    attend(ears, peers, time.monotonic() + request["seconds"])
    for sock in ears:
        sock.close()
    for sock in peers:
        let_go(sock)
    tell(request["nonce"], {"gone": True})


def attend(ears: list[socket.socket], peers: list[socket.socket], end: float) -> None:
    """Take in whoever comes: the peer closes first, or the job's own port would stay in TIME_WAIT here."""
    chosen = selectors.DefaultSelector()
    for sock in ears:
        chosen.register(sock, selectors.EVENT_READ)
    chosen.register(sys.stdin.buffer, selectors.EVENT_READ)
    while time.monotonic() < end:
        for key, _ in chosen.select(1.0):
            if not isinstance(key.fileobj, socket.socket):
                return
            try:
                peers.append(key.fileobj.accept()[0])
            except OSError:
                continue  # the peer was gone before we looked
        while len(peers) > BATCH:
            let_go(peers.pop(0))


def started(target: list[Any]) -> socket.socket | str:
    """Begin one connection; return the word when it ended at once."""
    address, port = target
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    sock.setblocking(False)
    code = sock.connect_ex((address, port))
    if code == errno.EINPROGRESS:
        return sock
    sock.close()
    return word(code)


def word(code: int) -> str:
    """Say an error number in a word of ours, or the system's."""
    return "ok" if code == 0 else WORDS.get(code, errno.errorcode.get(code, str(code)))


def batch(targets: list[list[Any]], timeout_s: float) -> list[str]:
    """Try up to a batch of targets at once."""
    results = ["timeout"] * len(targets)
    chosen = selectors.DefaultSelector()
    for number, target in enumerate(targets):
        begun = started(target)
        if isinstance(begun, str):
            results[number] = begun
        else:
            chosen.register(begun, selectors.EVENT_WRITE, number)
    end = time.monotonic() + timeout_s
    last = False
    while chosen.get_map() and not last:
        last = time.monotonic() >= end  # one look more: a starved host may not have looked at all in that time
        for key, _ in chosen.select(0.0 if last else max(0.0, end - time.monotonic())):
            sock = key.fileobj
            if isinstance(sock, socket.socket):
                results[key.data] = word(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
                chosen.unregister(sock)
                let_go(sock)
    for key in list(chosen.get_map().values()):
        if isinstance(key.fileobj, socket.socket):
            key.fileobj.close()
    return results


def connect(request: dict[str, Any]) -> None:
    """Try all targets and answer."""
    targets = request["targets"]
    results: list[str] = []
    for start in range(0, len(targets), BATCH):
        results += batch(targets[start : start + BATCH], request["timeout_s"])
    tell(request["nonce"], {"results": results})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        connect(json.loads(sys.argv[1]))
    else:
        listen(json.loads(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())).decode("ascii")))
