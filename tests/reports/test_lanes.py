"""The ranks of a failed job, drawn: who is to blame, when each began, spoke and ended; self-contained and escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from rankready.model.record import Record
from rankready.model.text import Lang, Text
from rankready.reports._lanes import LEFT, MOST_LANES, WIDTH, drawing
from rankready.reports.html import draw

if TYPE_CHECKING:
    from collections.abc import Mapping


def row(rank: int, **parts: object) -> dict[str, Any]:
    return {
        "rank": rank,
        "server": f"server{rank // 8 + 1}",
        "device": rank % 8,
        "started": "2026-03-09T21:30:00",
        "first_sign": "2026-03-09T21:40:00.500",
        "sign": Text(en="waited", zh="等待"),
        "ended": "2026-03-09T21:40:02",
        "exit": 1,
        "signal": None,
        "stopped": False,
        "cause": False,
        **parts,
    }


def answer(rows: list[dict[str, Any]]) -> dict[str, Any]:
    cause = {"kind": "host_oom_kill", "servers": ["server1"], "ranks": [3], "time": "2026-03-09T21:35:00"}
    return {"outcome": "cause", "cause": cause, "timeline": rows, "waited": [], "evidence": [], "suspects": []}


def page(extra: Mapping[str, Any]) -> str:
    record = Record(verb="why", cluster="lab", started="2026-03-09T22:00:00Z", seconds=0.1, exit=1, extra=extra)
    return draw(record, Lang.EN, 100)


def test_each_rank_has_a_lane_and_the_culprit_is_first() -> None:
    rows = [row(n, cause=n == 3, exit=None, signal=9 if n == 3 else None) for n in range(16)]
    found = drawing(answer(rows))
    assert len(found["lanes"]) == 16
    assert found["lanes"][0]["whole"] == "server1 · rank 3"
    assert [lane["class"] for lane in found["lanes"]].count("cause") == 1
    assert all(LEFT <= lane["x1"] <= lane["sign"] <= lane["x2"] <= LEFT + WIDTH for lane in found["lanes"])
    fault = next(m for m in found["marks"] if m["class"] == "fault")
    assert fault["text"] == "21:35:00"
    assert fault["x"] == pytest.approx(LEFT + WIDTH * 300 / 602, abs=0.1)


def test_thousands_of_ranks_fold_by_server_but_for_the_culprit() -> None:
    rows = [row(n, cause=n == 1234) for n in range(4096)]
    found = drawing(answer(rows))
    assert len(found["lanes"]) == 513
    assert found["lanes"][0]["whole"] == "server155 · rank 1234"
    assert found["lanes"][1]["whole"] == "server1 · rank 0-7"
    told = page(answer(rows))
    assert len(told) < 400_000
    assert told.count("<rect") == 513


def test_more_servers_than_fit_are_counted() -> None:
    rows = [row(n) for n in range(8 * (MOST_LANES + 5))]
    found = drawing(answer(rows))
    assert (len(found["lanes"]), found["lanes_left"]) == (MOST_LANES, 5)


def test_a_rank_without_moments_is_drawn_open_and_nothing_at_all_is_not_drawn() -> None:
    rows = [row(0), row(1, started=None, first_sign=None, ended=None, exit=None)]
    lanes = drawing(answer(rows))["lanes"]
    assert (lanes[1]["ended"], lanes[1]["sign"]) == (False, None)
    assert drawing({"timeline": [row(0, started="x", first_sign=None, ended="9999")]})["lanes"] == []
    assert drawing({})["lanes"] == []
    assert "<svg" not in page({"outcome": "none", "cause": None, "timeline": []})


def test_the_drawing_is_well_formed_and_what_servers_said_is_escaped() -> None:
    evil = '"><script>alert(1)</script>\x1b[31m'
    told = page(answer([row(0, server=evil, sign=Text(en=evil, zh=evil), cause=True), row(1)]))
    svg = re.search(r"<svg.*?</svg>", told, re.DOTALL)
    assert svg is not None
    ET.fromstring(svg[0])  # noqa: S314  (our own page)
    assert "<script" not in told
    assert "\x1b" not in told
    assert "http" not in told.replace("http-equiv", "")
