# ruff: noqa: UP006, UP035, UP045, TC001  (sent to servers as part of one file, where Python may be 3.7)
"""The guards of a job tell each other when it fails, so that nobody has to stay attached (facts/launch 5.5).

::

    hub (node 0)   rankready NONCE                hello NODE NONCE MAC   leaf (every other node)
                   welcome MAC
                   WORD NUMBER MAC    either way: "beat", "failed NODE", "done"

Every line after the first carries a keyed digest over both nonces, the direction and a number that counts up; the key
lies in the job's folder alone. Who does not know it can neither end a job nor learn anything about one.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import os
import re
import select
import socket
import threading
import time
from collections import deque
from typing import Deque, Dict, List, Optional, Tuple

from rankready.runs.data.kin import Fields

BEAT_S = 2.0
TICK_S = 0.25
HELLO_S = 5.0  # how long a caller may take to show that it knows the key
GONE_S = 5.0  # a guard that lives calls again within a second after its connection was closed
TRY_S = 5.0  # until it is said that there is no link; the trying goes on
REFUSALS = 2
STRANGERS = 64
LINE_BYTES = 512
NODE = re.compile(r"[\w.-]{1,128}")


class Wire:
    """One connection: whole lines in, words with a digest both ways."""

    def __init__(self, sock: socket.socket, key: str, outgoing: str) -> None:
        self.sock, self.key, self.outgoing = sock, key.encode(), outgoing
        self.incoming = {"down": "up", "up": "down"}[outgoing]
        self.nonces: Tuple[str, str] = (os.urandom(12).hex(), "")
        self.node = ""
        self.rest = b""
        self.told = False
        self.sent = self.taken = 0
        self.born = self.heard = self.beat = time.monotonic()
        sock.settimeout(2.0)

    def digest(self, *parts: str) -> str:
        """Return the keyed digest over this connection's nonces and some words."""
        return hmac.new(self.key, "|".join((*self.nonces, *parts)).encode(), "sha256").hexdigest()

    def write(self, line: str) -> None:
        """Send one line."""
        self.sock.sendall(line.encode() + b"\n")

    def say(self, word: str) -> None:
        """Send one word."""
        self.sent += 1
        self.beat = time.monotonic()
        self.write(f"{word}|{self.sent}|{self.digest(self.outgoing, word, str(self.sent))}")

    def lines(self) -> List[str]:
        """Read what came; raises OSError at its end, and for what no guard of ours sends."""
        data = b"" if self.whole() else self.sock.recv(4096)
        if not data and not self.whole():
            raise ConnectionResetError("closed")
        *whole, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > LINE_BYTES:
            raise ConnectionResetError("not a line of ours")
        return [line.decode("ascii", "replace") for line in whole]

    def whole(self) -> bool:
        """Tell whether a line is there already."""
        return b"\n" in self.rest

    def word(self, line: str) -> str:
        """Return what a line says; raises OSError where its digest or its number is wrong."""
        word, _, tail = line.partition("|")
        number, _, digest = tail.partition("|")
        self.taken += 1
        if number != str(self.taken) or not self.same(digest, self.incoming, word, number):
            raise ConnectionResetError("not a line of ours")
        self.heard = time.monotonic()
        return word

    def same(self, digest: str, *parts: str) -> bool:
        """Compare a digest without telling by time how much of it is right."""
        return hmac.compare_digest(digest.encode(), self.digest(*parts).encode())


class Link(threading.Thread):
    """One guard's end. ``verdict``: why the job must end here (a cause and a node); ``news``: events not yet told."""

    def __init__(self, peers: Fields) -> None:
        super().__init__(daemon=True)
        self.node, self.key = str(peers["node"]), str(peers["key"])
        self.place = (str(peers["address"]), int(peers["port"]))
        self.lost_s = float(peers["lost_s"])
        self.verdict: Optional[Tuple[str, str]] = None
        self.news: Deque[Fields] = deque()
        self.mine = ""
        self.sent = threading.Event()
        self.woken, self.waker = os.pipe()

    def say(self, word: str) -> None:
        """Tell the others once: "failed" or "done"."""
        if not self.mine:
            self.mine = f"failed {self.node}" if word == "failed" else word
            with contextlib.suppress(OSError):
                os.write(self.waker, b"!")

    def close(self, word: str) -> None:
        """Say how it ended here, and wait for a moment until that was sent."""
        self.say(word)
        self.sent.wait(1.0)

    def judge(self, cause: str, node: str) -> None:
        """Note why the job must end; the first reason stays, and none is needed once it ended here."""
        if self.verdict is None and not self.mine:
            self.verdict = (cause, node)

    def last_word(self) -> str:
        """Return what everybody must know: how it ended here, or elsewhere."""
        return self.mine or (f"failed {self.verdict[1]}" if self.verdict and self.verdict[0] == "peer_failed" else "")

    def run(self) -> None:
        """Serve until the process ends."""
        try:
            self.work()
        except OSError as error:
            self.news.append({"event": "unlinked", "reason": str(error)})
        self.sent.set()

    def work(self) -> None:
        """Do what this end does."""
        raise NotImplementedError

    def wait(self, socks: List[socket.socket]) -> List[socket.socket]:
        """Wait for any of these, or for a word of our own; return those that have something."""
        poll = select.poll()  # select() takes no descriptor above 1023
        for number in (self.woken, *(s.fileno() for s in socks)):
            poll.register(number, select.POLLIN)
        found = {number for number, _ in poll.poll(TICK_S * 1000)}
        if self.woken in found:
            os.read(self.woken, 64)
        return [s for s in socks if s.fileno() in found]

    def speak(self, wire: Wire) -> None:
        """Say what is to be said on one connection now."""
        if self.last_word() and not wire.told:
            wire.told = True
            wire.say(self.last_word())
        elif time.monotonic() - wire.beat > BEAT_S:
            wire.say("beat")


class Hub(Link):
    """Node 0's end: takes the others' calls and passes on what ends the job."""

    def __init__(self, peers: Fields) -> None:
        super().__init__(peers)
        self.strangers: Dict[socket.socket, Wire] = {}
        self.wires: Dict[socket.socket, Wire] = {}
        self.gone: Dict[str, float] = {}  # node → when its connection was closed; never: it ended in order

    def work(self) -> None:
        """Take calls."""
        listener = listen(self.place)
        self.news.append({"event": "listening", "port": self.place[1]})
        while True:
            for sock in self.wait([listener, *self.strangers, *self.wires]):
                if sock is listener:
                    self.accept(listener)
                elif sock in self.strangers:
                    self.greet(sock)
                elif sock in self.wires:
                    self.hear(sock)
            self.speak_to_all()
            self.look_after()

    def speak_to_all(self) -> None:
        """Say what is to be said; let broken connections go."""
        for sock, wire in list(self.wires.items()):
            try:
                self.speak(wire)
            except OSError:
                self.drop(sock)
        if self.mine:
            self.sent.set()

    def accept(self, listener: socket.socket) -> None:
        """Give a caller its half of the nonces."""
        with contextlib.suppress(OSError):
            sock, _ = listener.accept()
            if len(self.strangers) >= STRANGERS:
                sock.close()
                return
            wire = self.strangers[sock] = Wire(sock, self.key, "down")
            wire.write(f"rankready {wire.nonces[0]}")

    def greet(self, sock: socket.socket) -> None:
        """Let one in that knows the key; one that comes back takes its own place."""
        wire = self.strangers.pop(sock)
        try:
            lines = wire.lines()
            if not lines:
                self.strangers[sock] = wire
                return
            words = lines[0].split()
            if len(words) != 4 or words[0] != "hello" or not NODE.fullmatch(words[1]):  # noqa: PLR2004  (hello NODE NONCE MAC)
                raise ConnectionResetError("no greeting of ours")
            wire.node, wire.nonces = words[1], (wire.nonces[0], words[2])
            if not wire.same(words[3], "hello", wire.node):
                raise ConnectionResetError("does not know the key")
            wire.write(f"welcome {wire.digest('welcome')}")
        except OSError:
            sock.close()
            return
        for other in [s for s, w in self.wires.items() if w.node == wire.node]:
            self.wires.pop(other).sock.close()
        self.gone.pop(wire.node, None)
        self.wires[sock] = wire

    def hear(self, sock: socket.socket) -> None:
        """Take one peer's words."""
        wire = self.wires[sock]
        try:
            words = [wire.word(line) for line in wire.lines()]
        except OSError:
            self.drop(sock)
            return
        for word in words:
            if word == "done":
                self.gone[wire.node] = float("inf")
            if word.startswith("failed "):
                self.judge("peer_failed", wire.node)

    def drop(self, sock: socket.socket) -> None:
        """Let a broken connection go."""
        wire = self.wires.pop(sock)
        sock.close()
        self.gone.setdefault(wire.node, time.monotonic())

    def look_after(self) -> None:
        """Send callers away that say nothing; judge peers that fell silent, or whose guard is gone."""
        now = time.monotonic()
        for sock in [s for s, w in self.strangers.items() if now - w.born > HELLO_S]:
            self.strangers.pop(sock).sock.close()
        for node, since in self.gone.items():
            if now - since > GONE_S:
                self.judge("peer_failed", node)
        for wire in self.wires.values():
            if now - wire.heard > self.lost_s and wire.node not in self.gone:
                self.judge("peer_lost", wire.node)


class Leaf(Link):
    """Every other node's end: calls node 0, and calls again."""

    def __init__(self, peers: Fields) -> None:
        super().__init__(peers)
        self.hub = str(peers["hub"])
        self.heard = 0.0  # when node 0 was last heard; 0: never
        self.refusals = 0
        self.trouble = ""

    def work(self) -> None:
        """Call until node 0 says that it ended in order, or the job ends."""
        born = time.monotonic()
        while True:
            try:
                with self.call() as sock:
                    if self.follow(Wire(sock, self.key, "up")):
                        return
            except OSError as error:
                self.trouble = str(error)
                self.judge_silence(error)
            if not self.heard and born and time.monotonic() - born > TRY_S:
                born = 0.0
                self.news.append({"event": "unlinked", "reason": self.trouble})
            self.wait([])

    def call(self) -> socket.socket:
        """Reach node 0."""
        return socket.create_connection(self.place, timeout=2.0)

    def follow(self, wire: Wire) -> bool:
        """Greet, then take and say words; True when node 0 ended in order. Raises OSError when it breaks."""
        self.greet(wire)
        self.refusals = 0
        while True:
            if wire.whole() or self.wait([wire.sock]):
                for line in wire.lines():
                    word = wire.word(line)
                    if word == "done":
                        return True
                    if word.startswith("failed ") and NODE.fullmatch(word[7:]):
                        self.judge("peer_failed", word[7:])
            self.heard = max(self.heard, wire.heard)
            self.speak(wire)
            if self.mine:
                self.sent.set()
            if time.monotonic() - wire.heard > self.lost_s:
                self.judge("peer_lost", self.hub)

    def greet(self, wire: Wire) -> None:
        """Show that we know the key, and see that the other does."""
        words = self.answer(wire).split()
        if len(words) != 2 or words[0] != "rankready":  # noqa: PLR2004  (rankready NONCE)
            raise ConnectionResetError("something else answers there")
        wire.nonces = (words[1], wire.nonces[0])
        wire.write(f"hello {self.node} {wire.nonces[1]} {wire.digest('hello', self.node)}")
        words = self.answer(wire).split()
        if len(words) != 2 or words[0] != "welcome" or not wire.same(words[1], "welcome"):  # noqa: PLR2004  (welcome MAC)
            raise ConnectionResetError("something else answers there")
        wire.heard = time.monotonic()
        if not self.heard:
            self.news.append({"event": "linked", "peer": self.hub})
        self.heard = wire.heard

    def answer(self, wire: Wire) -> str:
        """Wait for one line; what comes behind it stays."""
        until = time.monotonic() + HELLO_S
        while not wire.whole() and time.monotonic() < until:
            data = wire.sock.recv(LINE_BYTES)
            wire.rest += data
            if not data or len(wire.rest) > LINE_BYTES:
                break
        line, end, wire.rest = wire.rest.partition(b"\n")
        if not end:
            raise ConnectionResetError("closed the connection: it serves somebody else, or no job")
        return line.decode("ascii", "replace")

    def judge_silence(self, error: OSError) -> None:
        """Node 0's server that refuses lives without its guard; one that is silent may come back."""
        if not self.heard:
            return
        self.refusals = self.refusals + 1 if isinstance(error, ConnectionRefusedError) else 0
        if self.refusals >= REFUSALS:
            self.judge("peer_failed", self.hub)
        elif time.monotonic() - self.heard > self.lost_s:
            self.judge("peer_lost", self.hub)


def link_of(peers: Fields) -> Link:
    """Make this node's end."""
    return Leaf(peers) if peers["hub"] else Hub(peers)


def listen(place: Tuple[str, int]) -> socket.socket:
    """Listen at the job's own address; where that is a translated one, at all. Raises OSError."""
    family = socket.AF_INET6 if ":" in place[0] else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(place)
    except OSError as error:
        if error.errno != errno.EADDRNOTAVAIL:
            raise
        listener.bind(("", place[1]))
    listener.listen(STRANGERS)
    listener.settimeout(2.0)
    return listener


def tell_hub(peers: Fields, word: str) -> None:
    """Say one word to node 0 from a process that has no link of its own; for a moment only."""
    leaf = Leaf(peers)
    with contextlib.suppress(OSError), socket.create_connection(leaf.place, timeout=1.0) as sock:
        wire = Wire(sock, leaf.key, "up")
        leaf.greet(wire)
        wire.say(f"{word} {leaf.node}")
