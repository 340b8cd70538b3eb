"""The map of leaves, ports and devices, and the moves that would mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farm_fleet import farm, right
from farm_words import Words
from server_farm import frame

from rankready.model.finding import Certainty, Finding, Outcome, Severity, Verdict
from rankready.model.place import parse_place
from rankready.model.text import Text
from rankready.runs.cabling import cabling, moves, picture

if TYPE_CHECKING:
    from pathlib import Path

    from farm_fleet import Frames


def row(device: str, leaf: str | None, port: str = "", reason: str = "") -> dict[str, object]:
    if leaf is None:
        return {"device": device, "neighbour": None, "reason": reason}
    return {"device": device, "neighbour": leaf, "port": port, "kind": "switch", "pvid": 100}


def test_runs_of_ports_and_devices_share_a_line_and_numbers_are_ordered_as_numbers() -> None:
    rows = [row(f"server{s}/{d}", "leaf1", f"GE1/0/{8 * s + d}") for s in (1, 2) for d in range(8)]
    assert picture(rows) == [
        "leaf1  16 devices on 16 ports",
        "  GE1/0/8-15   server1/[0-7]",
        "  GE1/0/16-23  server2/[0-7]",
    ]


def test_leaves_are_apart_and_a_swap_breaks_a_run() -> None:
    rows = [row("server1/0", "leaf2", "GE1"), row("server1/1", "leaf10", "GE1"), row("server2/0", "leaf2", "GE2")]
    assert picture(rows) == [
        "leaf2  2 devices on 2 ports",
        "  GE1  server1/0",
        "  GE2  server2/0",
        "leaf10  1 devices on 1 ports",
        "  GE1  server1/1",
    ]


def test_two_devices_on_one_port_and_who_heard_nothing_are_shown() -> None:
    rows = [
        row("server1/0", "leaf1", "400GE1/0/1"),
        row("server1/1", "leaf1", "400GE1/0/1"),
        row("server1/2", None, reason="no neighbour is known"),
        row("server1/3", None, reason="no neighbour is known"),
    ]
    assert picture(rows) == [
        "leaf1  2 devices on 1 ports",
        "  400GE1/0/1  server1/0   <- 2 devices on one port",
        "  400GE1/0/1  server1/1   <- 2 devices on one port",
        "nothing heard  server1/[2-3]: no neighbour is known",
    ]


def test_a_switchs_words_cannot_move_the_cursor() -> None:
    assert "\x1b" not in "\n".join(picture([row("server1/0", "leaf\x1b[2J", "GE\x1b1")]))


def misplaced(device: str, told: str) -> Verdict:
    place = parse_place(device)
    finding = Finding(
        code="CAB002", severity=Severity.ERROR, place=place, message=Text(en="m", zh="m"),
        remedy=Text(en=told, zh=told), certainty=Certainty.SURE,
    )  # fmt: skip
    return Verdict(code="CAB002", place=place, outcome=Outcome.FAIL, findings=(finding,))


def test_an_exchange_is_one_move_though_it_is_found_at_both_ends() -> None:
    swap = "swap the cables of {} and {}: move {} from leaf1/1 to leaf1/2"
    found = moves(
        (
            misplaced("server1/0", swap.format("server1/0", "server1/1", "server1/0")),
            misplaced("server1/1", swap.format("server1/1", "server1/0", "server1/1")),
            misplaced("server2/0", "move the cable of server2/0 from leaf1/5 to leaf1/4"),
        )
    )
    assert [m["device"] for m in found] == ["server1/0", "server2/0"]


async def test_the_map_of_a_sound_cluster_has_a_line_a_server_and_no_moves(tmp_path: Path) -> None:
    record = await cabling(farm(3, (0, 1)).site(tmp_path)[0])
    assert picture(record.extra["neighbours"]) == [
        "leaf1  6 devices on 6 ports",
        "  GE1/0/0-1    server1/[0-1]",
        "  GE1/0/16-17  server2/[0-1]",
        "  GE1/0/32-33  server3/[0-1]",
    ]
    assert (record.exit, record.extra["moves"]) == (0, [])


async def test_an_exchange_of_two_cables_is_told_as_one_move(tmp_path: Path) -> None:
    fleet = farm(4, (0, 1, 2, 3))
    other = {"0": "1", "1": "0"}

    def wrong(name: str, nonce: str, frames: Frames) -> bytes:
        words = Words(fleet.words.cluster)
        if name != "server2":
            return right(name, nonce, frames)
        crossed = [
            (c, frame(nonce, c.index, words.answer(name, (*c.argv[:2], other[c.argv[2]], *c.argv[3:]))))
            if "-lldp" in c.argv and c.argv[2] in other
            else (c, f)
            for c, f in frames
        ]
        return right(name, nonce, crossed)

    fleet.wrong = wrong
    record = await cabling(fleet.site(tmp_path)[0])
    assert record.exit == 1
    (move,) = record.extra["moves"]
    assert "server2/0" in move["do"]["en"]
    assert "server2/1" in move["do"]["en"]
