"""The map of leaves, ports and devices, and the moves that would mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farm_fleet import farm, right
from farm_words import Words
from server_farm import frame

from rankready.model.text import Lang
from rankready.reports._cabling import picture, rows
from rankready.runs.cabling import cabling

if TYPE_CHECKING:
    from pathlib import Path

    from farm_fleet import Frames


async def test_the_map_of_a_sound_cluster_has_a_line_a_server_and_no_moves(tmp_path: Path) -> None:
    record = await cabling(farm(3, (0, 1)).site(tmp_path)[0])
    assert picture(rows(record, record.extra), Lang.EN) == [
        "leaf1  6 devices on 6 ports",
        "  GE1/0/0…33  server[1-3]/[0-1]",
    ]
    assert [s["vlans"] for s in record.extra["segments"]] == [
        [{"pvid": 100, "devices": 3}],
        [{"pvid": 101, "devices": 3}],
    ]
    assert (record.exit, record.extra["moves"]) == (0, [])


async def test_an_exchange_of_two_cables_is_two_moves_of_one_ring(tmp_path: Path) -> None:
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
    moves = record.extra["moves"]
    assert [(m["device"], m["from"], m["to"], m["ring"]) for m in moves] == [
        ("server2/1", "leaf1/GE1/0/16", "leaf1/GE1/0/17", 1),
        ("server2/0", "leaf1/GE1/0/17", "leaf1/GE1/0/16", 1),
    ]
    assert moves[0]["do"]["en"] == "move the cable of server2/1 from leaf1 GE1/0/16 to leaf1 GE1/0/17"
