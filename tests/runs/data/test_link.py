"""The guards' link: what ends a job elsewhere is told at once, a stranger can tell nothing, silence is not failure."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from guarded_job import eventually

from rankready.runs.data import link
from rankready.runs.data.link import Hub, Leaf, Wire, link_of, tell_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "k" * 32


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = listener.getsockname()[1]
        assert isinstance(found, int)
        return found


def peers(port: int, node: str, **changes: object) -> dict[str, Any]:
    hub = "" if node == "server1" else "server1"
    told = {"node": node, "hub": hub, "address": "127.0.0.1", "port": port, "key": KEY, "lost_s": 60.0}
    return {**told, **changes}


def started(port: int, node: str, **changes: object) -> link.Link:
    made = link_of(peers(port, node, **changes))
    made.start()
    return made


def events(of: link.Link) -> list[str]:
    return [str(e["event"]) for e in of.news]


@pytest.fixture
def three(port: int) -> Iterator[list[link.Link]]:
    """Hub and two leaves, all linked."""
    made = [started(port, name) for name in ("server1", "server2", "server3")]
    assert eventually(lambda: all("linked" in events(leaf) for leaf in made[1:]))
    yield made
    for one in made:
        one.close("done")


def test_nothing_is_judged_while_all_is_well(three: list[link.Link]) -> None:
    assert [one.verdict for one in three] == [None, None, None]
    assert isinstance(three[0], Hub)
    assert isinstance(three[1], Leaf)


@pytest.mark.parametrize("failed", [0, 1, 2])
def test_a_failure_anywhere_is_known_everywhere(three: list[link.Link], failed: int) -> None:
    three[failed].say("failed")
    others = [one for i, one in enumerate(three) if i != failed]
    assert eventually(lambda: all(one.verdict is not None for one in others), 5)
    assert {one.verdict for one in others} == {("peer_failed", f"server{failed + 1}")}
    assert three[failed].verdict is None


def test_an_orderly_end_is_no_failure(three: list[link.Link]) -> None:
    hub = three[0]
    assert isinstance(hub, Hub)
    three[1].close("done")
    assert eventually(lambda: hub.gone.get("server2") == float("inf"))
    three[0].close("done")
    three[2].join(5)
    assert not three[2].is_alive()
    assert [one.verdict for one in three] == [None, None, None]


def test_a_guard_that_is_gone_from_a_living_server_failed(
    three: list[link.Link], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "GONE_S", 0.3)
    hub = three[0]
    assert isinstance(hub, Hub)
    monkeypatch.setattr(Leaf, "call", lambda _self: (_ for _ in ()).throw(OSError("dead")))
    next(sock for sock, wire in hub.wires.items() if wire.node == "server2").shutdown(socket.SHUT_RDWR)
    assert eventually(lambda: hub.verdict == ("peer_failed", "server2"))
    assert eventually(lambda: three[2].verdict == ("peer_failed", "server2"))


def test_a_connection_that_broke_is_made_again(three: list[link.Link]) -> None:
    hub = three[0]
    assert isinstance(hub, Hub)
    next(sock for sock, wire in hub.wires.items() if wire.node == "server2").shutdown(socket.SHUT_RDWR)
    assert eventually(lambda: "server2" in hub.gone)
    assert eventually(lambda: "server2" not in hub.gone)
    three[2].say("failed")
    assert eventually(lambda: three[1].verdict == ("peer_failed", "server3"))


def test_node_0_whose_port_refuses_failed(port: int) -> None:
    far, near = socket.create_server(("127.0.0.1", port)), started(port, "server2")
    hub = Hub(peers(port, "server1"))
    sock, _ = far.accept()
    hub.strangers[sock] = wire = Wire(sock, KEY, "down")
    wire.write(f"rankready {wire.nonces[0]}")
    while not hub.wires:
        hub.greet(sock)
    assert eventually(lambda: events(near) == ["linked"])
    far.close()
    sock.close()
    assert eventually(lambda: near.verdict == ("peer_failed", "server1"))


def test_silence_is_borne_for_as_long_as_agreed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "BEAT_S", 3600.0)
    hub, leaf = started(port, "server1", lost_s=1.0), started(port, "server2", lost_s=3600.0)
    assert eventually(lambda: "linked" in events(leaf))
    assert hub.verdict is None
    assert eventually(lambda: hub.verdict == ("peer_lost", "server2"))
    assert leaf.verdict is None


def test_who_does_not_know_the_key_is_not_heard(port: int) -> None:
    hub = started(port, "server1")
    assert isinstance(hub, Hub)
    assert eventually(lambda: "listening" in events(hub))
    stranger = started(port, "server2", key="x" * 32)
    stranger.say("failed")
    tell_hub(peers(port, "server3", key="y" * 32), "failed")
    assert eventually(lambda: isinstance(stranger, Leaf) and bool(stranger.trouble))
    assert hub.verdict is None
    assert hub.wires == {}


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, b"hello server2\n", b"hello ../x n m\n"])
def test_other_words_on_the_port_change_nothing(port: int, line: bytes) -> None:
    hub = started(port, "server1")
    assert eventually(lambda: "listening" in events(hub))
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.settimeout(10)
        sock.sendall(line)
        with contextlib.suppress(OSError):
            while sock.recv(4096):
                pass
    assert hub.is_alive()
    assert hub.verdict is None


def test_a_word_that_is_played_again_breaks_the_connection(port: int) -> None:
    hub = started(port, "server1")
    assert isinstance(hub, Hub)
    assert eventually(lambda: "listening" in events(hub))
    leaf = Leaf(peers(port, "server2"))
    with leaf.call() as sock:
        wire = Wire(sock, KEY, "up")
        leaf.greet(wire)
        wire.say("beat")
        wire.sent = 0
        wire.say("failed server2")
        assert eventually(lambda: "server2" in hub.gone)
    assert hub.verdict is None


def test_a_guardian_can_speak_for_a_guard_that_died(port: int) -> None:
    hub = started(port, "server1")
    assert eventually(lambda: "listening" in events(hub))
    tell_hub(peers(port, "server2"), "failed")
    assert eventually(lambda: hub.verdict == ("peer_failed", "server2"), 4)


def test_a_port_that_somebody_else_has_is_said(port: int) -> None:
    with socket.create_server(("127.0.0.1", port)) as other:
        hub = started(port, "server1")
        assert eventually(lambda: events(hub) == ["unlinked"])
        assert "in use" in str(hub.news[0]["reason"])
        done = threading.Event()

        def hang_up() -> None:
            other.accept()[0].close()
            done.set()

        threading.Thread(target=hang_up, daemon=True).start()
        leaf = Leaf(peers(port, "server2"))
        leaf.start()
        assert done.wait(5)
        assert eventually(lambda: "serves somebody else" in leaf.trouble)


def test_a_link_that_never_stands_is_said_once_and_tried_on(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "TRY_S", 0.2)
    leaf = started(port, "server2", lost_s=0.1)
    assert eventually(lambda: events(leaf) == ["unlinked"])
    assert "refused" in str(leaf.news[0]["reason"])
    hub = started(port, "server1")
    assert eventually(lambda: events(leaf) == ["unlinked", "linked"])
    assert (leaf.verdict, hub.verdict) == (None, None)


def test_many_strangers_do_not_keep_a_peer_out(port: int) -> None:
    hub = started(port, "server1")
    assert eventually(lambda: "listening" in events(hub))
    crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(link.STRANGERS + 8)]
    leaf = started(port, "server2")
    try:
        until = time.monotonic() + 30
        while "linked" not in events(leaf) and time.monotonic() < until:
            time.sleep(0.05)
        assert "linked" in events(leaf)
    finally:
        for sock in crowd:
            sock.close()
