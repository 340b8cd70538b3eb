"""The map of leaves, ports and devices: runs folded, what is wrong marked, what to move in its order."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from rankready.model.finding import Finding, Outcome, Severity, Verdict
from rankready.model.place import parse_place
from rankready.model.record import Record
from rankready.model.text import Lang, Text
from rankready.reports import html, text
from rankready.reports._cabling import picture, rows


def row(device: str, leaf: str | None, port: str = "", reason: str = "") -> dict[str, object]:
    if leaf is None:
        return {"device": device, "neighbour": None, "reason": reason}
    return {"device": device, "neighbour": leaf, "port": port, "kind": "switch", "pvid": 100}


def fibre(device: str, peer: str) -> dict[str, object]:
    return {
        "device": device,
        "neighbour": peer.split("/", maxsplit=1)[0],
        "port": "02:5e",
        "kind": "device",
        "peer": peer,
    }


def misplaced(device: str) -> Verdict:
    place = parse_place(device)
    found = Finding(
        code="CAB002", severity=Severity.ERROR, place=place, message=Text("its cable ends at x", "线缆另一端为 x"),
        remedy=Text("move it", "移动它"),
    )  # fmt: skip
    return Verdict(code="CAB002", place=place, outcome=Outcome.FAIL, findings=(found,))


def move(device: str, origin: str, target: str, ring: int | None = None) -> dict[str, object]:
    told = {"en": f"move the cable of {device} from {origin} to {target}", "zh": f"把 {device} 的线缆移到 {target}"}
    return {"device": device, "from": origin, "to": target, "ring": ring, "do": told}


def looked(
    found: list[dict[str, object]], wrong: tuple[str, ...] = (), moves: list[dict[str, object]] | None = None
) -> Record:
    servers = len({str(r["device"]).split("/")[0] for r in found})
    return Record(
        verb="cabling", cluster="lab", started="2026-01-01T00:00:00+00:00", seconds=1.0, exit=1 if wrong else 0,
        servers=servers, devices=len(found), verdicts=tuple(map(misplaced, wrong)),
        extra={"neighbours": found, "moves": moves or []},
    )  # fmt: skip


def drawn(found: list[dict[str, object]], *wrong: str, lang: Lang = Lang.EN) -> list[str]:
    record = looked(found, wrong)
    return picture(rows(record, record.extra), lang)


def test_runs_of_ports_and_devices_share_a_line_and_numbers_are_ordered_as_numbers() -> None:
    found = [row(f"server{s}/{d}", "leaf1", f"GE1/0/{8 * s + d}") for s in (1, 2) for d in range(8)]
    assert drawn(found) == ["leaf1  16 devices on 16 ports", "  GE1/0/8-23  server[1-2]/[0-7]"]


def test_ports_that_are_left_free_between_servers_are_told() -> None:
    found = [row(f"server{s}/{d}", "leaf1", f"GE1/0/{16 * s + d}") for s in range(1, 9) for d in range(8)]
    assert drawn(found) == ["leaf1  64 devices on 64 ports", "  GE1/0/16…135  server[1-8]/[0-7]"]


def test_halves_of_ports_go_on() -> None:
    found = [row(f"server1/{d}", "leaf1", f"400GE1/0/{d // 2 + 1}:{d % 2 + 1}") for d in range(8)]
    assert drawn(found) == ["leaf1  8 devices on 8 ports", "  400GE1/0/1:1-4:2  server1/[0-7]"]


def test_a_leaf_of_one_rail_is_one_line() -> None:
    found = [row(f"server{s}/3", "leaf4", f"GE1/0/{s}") for s in range(1, 33)]
    assert drawn(found) == ["leaf4  32 devices on 32 ports", "  GE1/0/1-32  server[1-32]/3"]


def test_a_cable_that_is_wrong_breaks_a_run_and_is_marked() -> None:
    found = [row(f"server1/{d}", "leaf1", f"GE1/0/{ {2: 3, 3: 2}.get(d, d) }") for d in range(6)]
    assert drawn(found, "server1/2", "server1/3") == [
        "leaf1  6 devices on 6 ports",
        "  GE1/0/0-1  server1/[0-1]",
        "  GE1/0/2    server1/3   <- CAB002",
        "  GE1/0/3    server1/2   <- CAB002",
        "  GE1/0/4-5  server1/[4-5]",
    ]


def test_leaves_are_apart_and_ordered_as_numbers() -> None:
    found = [row("server1/0", "leaf2", "GE1"), row("server1/1", "leaf10", "GE1"), row("server2/0", "leaf2", "GE2")]
    assert drawn(found) == [
        "leaf2  2 devices on 2 ports",
        "  GE1-2  server[1-2]/0",
        "leaf10  1 devices on 1 ports",
        "  GE1  server1/1",
    ]


def test_two_devices_on_one_port_and_who_heard_nothing_are_shown() -> None:
    found = [
        row("server1/0", "leaf1", "400GE1/0/1"),
        row("server1/1", "leaf1", "400GE1/0/1"),
        row("server1/2", None, reason="no neighbour is known"),
        row("server1/3", None, reason="no neighbour is known"),
    ]
    assert drawn(found) == [
        "leaf1  2 devices on 1 ports",
        "  400GE1/0/1  server1/0   <- ×2",
        "  400GE1/0/1  server1/1   <- ×2",
        "nothing heard  server1/[2-3]: no neighbour is known",
    ]


def test_a_fibre_is_drawn_once_and_without_a_leaf() -> None:
    found = [fibre(f"server1/{d}", f"server2/{d}") for d in range(8)]
    found += [fibre(f"server2/{d}", f"server1/{d}") for d in range(8)]
    assert drawn(found) == ["fibres  8", "  server1/[0-7] - server2/0-7"]


@pytest.mark.parametrize("lang", Lang)
def test_a_switchs_words_cannot_move_the_cursor_or_write_the_page(lang: Lang) -> None:
    record = looked([row("server1/0", "leaf\x1b[2J<script>", "GE\x1b1<b>"), row("server1/1", None, reason="\x1b[1m")])
    for told in (text.draw(record, lang, 80), html.draw(record, lang, 80)):
        assert "\x1b" not in told
    assert "<script>" not in html.draw(record, lang, 80)


def thousand(wrong: tuple[str, ...] = ()) -> Record:
    found = [
        row(f"server{s + 1}/{d}", f"leaf{s // 32 + 1}", f"GE1/0/{s % 32 * 8 + d}")
        for s in range(1000)
        for d in range(8)
    ]
    moves = [move(w, "leaf1 GE1/0/1", "leaf1 GE1/0/2", 1) for w in wrong]
    return looked(found, wrong, moves)


@pytest.mark.parametrize("lang", Lang)
@pytest.mark.parametrize("wrong", [(), ("server7/1", "server9/1"), tuple(f"server{s}/3" for s in range(1, 1001))])
def test_a_thousand_servers_fit_one_screen_of_80_columns(lang: Lang, wrong: tuple[str, ...]) -> None:
    told = text.draw(thousand(wrong), lang, 80).splitlines()
    assert len(told) <= 24
    assert max(map(cell_len, told)) <= 80
    if not wrong:
        assert any("leaf[1-32]" in line for line in told)


def test_what_is_wrong_among_a_thousand_is_drawn_and_the_rest_is_one_line() -> None:
    told = text.draw(thousand(("server7/1", "server9/1")), Lang.EN, 100).splitlines()
    assert " leaf[2-32]  7,744 devices on 7,744 ports, nothing wrong" in told
    assert [line for line in told if "<- CAB002" in line] == [
        "   GE1/0/49  server7/1   <- CAB002",
        "   GE1/0/65  server9/1   <- CAB002",
    ]


def test_moves_stand_in_their_order_and_a_ring_says_what_to_pull_out_first() -> None:
    moves = [
        move("server1/2", "leaf1 GE3", "leaf1 GE9"),
        move("server2/1", "leaf1 GE1", "leaf1 GE0", 1),
        move("server2/0", "leaf1 GE0", "leaf1 GE1", 1),
    ]
    told = text.draw(looked([row("server1/2", "leaf1", "GE3")], ("server1/2",), moves), Lang.EN, 100)
    at = [told.index(part) for part in (
        "move 3 cables, each once", "1. move the cable of server1/2", "2 change places: pull out server2/0's first",
        "2. move the cable of server2/1", "3. move the cable of server2/0",
    )]  # fmt: skip
    assert at == sorted(at)


def test_the_page_has_the_table_with_wrong_cables_first() -> None:
    record = thousand(("server900/3",))
    page = html.draw(record, Lang.EN, 80)
    cables = page[page.index("Ports and devices") :]
    assert cables.index("server900/3") < cables.index("server1/0")
    assert "and more:" in cables
    assert "move the cable of server900/3" in page
    assert "http" not in page.replace("http-equiv", "")
