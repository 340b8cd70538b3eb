"""Stand-in for ``ping`` on a machine that has none: IPv4 echo, the few options and words that hccn_tool relies on.

Usage: ``_icmp.py -c COUNT -i INTERVAL_S -W WAIT_S [-n] [-s SIZE] [-M do] TARGET``; exit status 0 if anything came
back, 1 if nothing did, 2 if nothing could be sent.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass

ECHO_REPLY, UNREACHABLE, ECHO, EXCEEDED = 0, 3, 8, 11
IP_MTU_DISCOVER, IP_PMTUDISC_DO = 10, 2  # numbers of linux/in.h; the socket module names them only from Python 3.12
UNREACHABLE_WORDS = {0: "Destination Net Unreachable", 1: "Destination Host Unreachable"}
MESSAGE_TOO_LONG = 90


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What the command line asks for."""

    target: str
    count: int
    interval_s: float
    wait_s: float
    size: int
    whole: bool


def asked(argv: list[str]) -> Probe:
    """Read the command line; options that change nothing here are passed over."""
    options = {"-c": "1", "-i": "1", "-W": "1", "-s": "56", "-M": ""}
    target = ""
    words = iter(argv)
    for word in words:
        if word in options:
            options[word] = next(words)
        elif not word.startswith("-"):
            target = word
    return Probe(
        target=target,
        count=int(options["-c"]),
        interval_s=float(options["-i"]),
        wait_s=float(options["-W"]),
        size=int(options["-s"]),
        whole=options["-M"] == "do",
    )


def checksum(data: bytes) -> int:
    """Return the Internet checksum of RFC 1071."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def echo(mark: int, number: int, size: int) -> bytes:
    """Return one echo request; its sending time is kept by the caller, so that any size will do."""
    head = struct.pack("!BBHHH", ECHO, 0, 0, mark, number)
    body = bytes(size)
    return struct.pack("!BBHHH", ECHO, 0, checksum(head + body), mark, number) + body


def heard(packet: bytes, mark: int) -> tuple[int, int, int] | None:
    """Return (type, code, sequence number) of an answer to us, or None for other traffic."""
    icmp = packet[(packet[0] & 15) * 4 :]
    kind, code = icmp[0], icmp[1]
    if kind in (UNREACHABLE, EXCEEDED):
        quoted = icmp[8:]
        icmp = quoted[(quoted[0] & 15) * 4 :]
    elif kind != ECHO_REPLY:
        return None
    _, _, _, seen, number = struct.unpack("!BBHHH", icmp[:8])
    return (kind, code, number) if seen == mark else None


def listen(sock: socket.socket, mark: int, sent: dict[int, float], until: float) -> int:
    """Print what comes back before ``until`` or until everything is answered; return how many echoes came."""
    received = 0
    while sent and (left := until - time.monotonic()) > 0:
        if not select.select([sock], [], [], left)[0]:
            break
        packet, (source, _) = sock.recvfrom(65535)
        answer = heard(packet, mark)
        if answer is None or answer[2] not in sent:
            continue
        kind, code, number = answer
        took_ms = (time.monotonic() - sent.pop(number)) * 1000
        if kind == ECHO_REPLY:
            received += 1
            print(f"{len(packet) - 20} bytes from {source}: icmp_seq={number} ttl={packet[8]} time={took_ms:.3f} ms")
        elif kind == EXCEEDED:
            print(f"From {source} icmp_seq={number} Time to live exceeded")
        else:
            words = UNREACHABLE_WORDS.get(code, "Destination Host Unreachable")
            print(f"From {source} icmp_seq={number} {words}")
    return received


def run(probe: Probe, sock: socket.socket) -> int:
    """Send all requests, print what comes back, and return the exit status."""
    mark = os.getpid() & 0xFFFF
    sent: dict[int, float] = {}
    received = 0
    for number in range(1, probe.count + 1):
        try:
            sent[number] = time.monotonic()
            sock.sendto(echo(mark, number, probe.size), (probe.target, 0))
        except OSError as error:
            del sent[number]
            if error.errno != MESSAGE_TOO_LONG:
                print(f"ping: connect: {error.strerror}")
                return 2
            print("ping: local error: message too long")
        last = number == probe.count
        received += listen(sock, mark, sent, time.monotonic() + (probe.wait_s if last else probe.interval_s))
        if not last and not sent:
            time.sleep(probe.interval_s)
    loss = 100 * (probe.count - received) // probe.count
    print(f"{probe.count} packets transmitted, {received} received, {loss}% packet loss")
    return 0 if received else 1


def main() -> int:
    """Open the raw socket in the namespace that we were started in."""
    probe = asked(sys.argv[1:])
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        if probe.whole:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
        return run(probe, sock)


if __name__ == "__main__":
    sys.exit(main())
