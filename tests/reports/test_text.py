from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from rich.cells import cell_len
from some_records import RECORDS, busy, failing, many, record, verdict

from rankready.model.change import Change, Plan, What
from rankready.model.finding import Outcome, Severity, Verdict
from rankready.model.place import cluster_place, device_place, server_place
from rankready.model.record import Step
from rankready.model.text import Lang
from rankready.reports.text import REPORT

if TYPE_CHECKING:
    from rankready.model.record import Record


def lines(value: Record, lang: Lang = Lang.EN, width: int = 80) -> list[str]:
    return REPORT.draw(value, lang, width).splitlines()


@pytest.mark.parametrize("lang", Lang)
@pytest.mark.parametrize("width", [20, 80, 200])
@pytest.mark.parametrize("count", [0, 1, 5, 500, 8000])
def test_any_record_fits_one_screen(count: int, width: int, lang: Lang) -> None:
    for value in (many(count), replace(many(count), simulated=True), busy(min(count, 500))):
        drawn = lines(value, lang, width)
        assert len(drawn) <= 24
        assert max(map(cell_len, drawn)) <= width


@given(RECORDS)
@settings(max_examples=150)
def test_no_record_breaks_the_page(value: Record) -> None:
    for lang in Lang:
        for width in (1, 20, 80):
            drawn = REPORT.draw(value, lang, width)
            assert all(line.isprintable() for line in drawn.splitlines())
            assert len(drawn.split("\n")) <= 25


def test_all_green_takes_three_lines() -> None:
    value = record(tuple(verdict("NET001", server_place(f"s{i}"), Outcome.PASS) for i in range(3)))
    assert lines(value) == [
        "rankready check   lab   16 servers, 128 devices   1 min 52 s",
        "READY   3 as planned",
        "more: rankready report   exit 0",
    ]
    assert lines(value, Lang.ZH)[1] == "就绪   3 项正常"


@pytest.mark.parametrize(
    ("code", "english", "chinese"),
    [(0, "READY", "就绪"), (1, "NOT READY", "未就绪"), (3, "UNDECIDED", "未定"), (130, "INTERRUPTED", "已中断")],
)
def test_the_state_is_the_first_thing_told(code: int, english: str, chinese: str) -> None:
    assert lines(record(exit=code))[1].startswith(english)
    assert lines(record(exit=code), Lang.ZH)[1].startswith(chinese)
    assert lines(record(exit=code))[-1].endswith(f"exit {code}")


def test_a_fault_is_told_with_place_statement_and_remedy() -> None:
    assert lines(record((failing("NET002", device_place("server9", 5), 3),), exit=1))[1:] == [
        "NOT READY   1 fault",
        " FAIL  NET002 server9/5: address is 10.20.3.9/24, planned 10.20.3.7/24",
        "       next: rankready plan, then rankready apply",
        "more: rankready explain NET002   rankready report   exit 1",
    ]


def test_the_same_fault_on_a_thousand_servers_is_one_item() -> None:
    found = tuple(failing("NET002", device_place(f"server{s:04}", d), s) for s in range(1, 1001) for d in range(8))
    drawn = lines(record(found, exit=1))
    assert drawn[1] == "NOT READY   8,000 faults"
    assert drawn[2].startswith(" FAIL  NET002 server[0001-1000]/[0-7] (8,000 places): address is")
    assert len(drawn) == 6


def test_more_than_five_faults_are_counted() -> None:
    kinds = tuple(failing(f"NET{n:03}", device_place("server1", n), n) for n in range(8))
    drawn = lines(record(kinds, exit=1))
    assert sum(line.startswith(" FAIL") for line in drawn) == 5
    assert " and 3 more" in drawn
    assert " 另有 3 项" in lines(record(kinds, exit=1), Lang.ZH)


def test_faults_stand_before_warnings_and_what_is_not_known() -> None:
    found = (
        verdict("NET003", server_place("a"), Outcome.UNKNOWN, "timeout"),
        failing("NET001", server_place("b"), outcome=Outcome.WARN),
        failing("NET002", server_place("c")),
    )
    marks = [line[:6].strip() for line in lines(record(found, exit=1)) if line[:1] == " " and line[1:2] != " "]
    assert marks == ["FAIL", "WARN", "????"]


def test_a_lost_server_is_one_item_with_its_reason() -> None:
    found = tuple(
        verdict(code, place, Outcome.UNKNOWN, f"{place.name}: connection refused")
        for code in ("HST001", "NET001", "NET002")
        for name in ("server14", "server15")
        for place in (server_place(name), *(device_place(name, d) for d in range(8)))
    )
    drawn = lines(record(found, exit=3))
    assert drawn[1] == "UNDECIDED   54 unknown"
    assert drawn[2].startswith(" ????  HST001 +2 server[14-15] (18 places): server14: connection refused")
    assert sum(line.startswith(" ????") for line in drawn) == 1


def test_a_cluster_rule_that_is_unknown_for_a_told_reason_is_not_told_again() -> None:
    lost = verdict("HST001", server_place("s1"), Outcome.UNKNOWN, "connection refused")
    rule = verdict("NET003", cluster_place("lab"), Outcome.UNKNOWN, "s1: connection refused (and 8 more)")
    other = verdict("NET001", server_place("s2"), Outcome.UNKNOWN, "s1: connection refused")
    assert sum(line.startswith(" ????") for line in lines(record((lost, rule), exit=3))) == 1
    assert sum(line.startswith(" ????") for line in lines(record((lost, other), exit=3))) == 2
    assert sum(line.startswith(" ????") for line in lines(record((rule,), exit=3))) == 1


def test_what_is_not_known_is_told_in_the_readers_language_beside_what_was_found() -> None:
    found = failing("NET001", device_place("server2", 3)).findings[0]
    unknown = Verdict(
        code="NET001", place=found.place, outcome=Outcome.UNKNOWN, reason="half of it is missing", reason_zh="缺了一半",
        findings=(replace(found, severity=Severity.WARNING), replace(found, severity=Severity.NOTE)),
    )  # fmt: skip
    for lang, first, second, reason in ((Lang.EN, "WARN", "????", "half of it"), (Lang.ZH, "警告", "未知", "缺了一半")):
        drawn = lines(record((unknown,), exit=3), lang)
        marked = [line for line in drawn if line.startswith((f" {first}", f" {second}"))]
        assert [line.split()[0] for line in marked] == [first, second]
        assert reason in marked[1]


def test_only_differing_values_are_alike() -> None:
    same = tuple(failing("NET002", server_place(f"s{i}"), 1) for i in range(3))
    assert not any("alike" in line for line in lines(record(same, exit=1)))
    differing = tuple(failing("NET002", server_place(f"s{i}"), i) for i in range(3))
    assert any("alike" in line for line in lines(record(differing, exit=1)))


def test_what_follows_from_a_root_is_counted_only() -> None:
    found = (
        failing("NET001", device_place("a", 0)),
        replace(failing("NET009", device_place("a", 0)), outcome=Outcome.IMPLIED),
    )
    drawn = lines(record(found, exit=1))
    assert "1 follows" in drawn[1]
    assert not any("NET009" in line for line in drawn)


def test_simulated_answers_say_so_at_the_top_and_the_end() -> None:
    value = replace(many(500), simulated=True)
    assert lines(value)[1].startswith("SIMULATED")
    assert "simulated" in lines(value)[-1]
    assert lines(value, Lang.ZH)[1].startswith("模拟")
    assert "模拟" in lines(value, Lang.ZH, 20)[-1]
    assert not any("imulated" in line for line in lines(many(500)))


def test_remote_words_cannot_drive_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;x\x07 \u202eevil\r\nNOT READY \x9b31m"
    finding = failing("NET001", server_place(hostile))
    value = record((finding, verdict("NET002", server_place("b"), Outcome.UNKNOWN, hostile)), exit=1, cluster=hostile)
    for line in lines(value):
        assert line.isprintable()
    assert "\\x1b[2J" in "\n".join(lines(value, width=200))


def test_few_changes_are_told_one_by_one_and_many_as_groups() -> None:
    def change(server: int, device: int, before: str | None) -> Change:
        place = device_place(f"server{server}", device)
        return Change(place=place, what=What.ADDRESS, before=before, after=f"10.20.{device}.{server}/24")

    few = Plan(changes=(change(1, 0, ""), change(1, 1, "10.9.9.9/24"), change(1, 2, None)))
    assert lines(record(exit=1, verb="plan", plan=few))[1:5] == [
        "NOT READY   3 changes",
        " + address  server1/0  (unset) → 10.20.0.1/24",
        " ~ address  server1/1  10.9.9.9/24 → 10.20.1.1/24",
        " ? address  server1/2  (not known) → 10.20.2.1/24",
    ]
    whole = Plan(changes=tuple(change(s, d, "") for s in range(1, 17) for d in range(8)))
    assert lines(record(exit=1, verb="plan", plan=whole))[2:3] == [
        " + address  server[1-16]/[0-7] ×128  (unset) → 10.20.0.1/24 … 10.20.7.16/24"
    ]


@pytest.mark.parametrize(
    ("width", "drawn"),
    [
        (80, " + address  server[1,3,5,7,9,11,1… ×512  (unset) → 10.20.0.1/24 … 10.20.7.127/24"),
        (40, " + address  server… ×512  (unset) → 10.…"),
    ],
)
def test_scattered_servers_leave_room_for_what_changes(width: int, drawn: str) -> None:
    places = [device_place(f"server{s}", d) for s in range(1, 129, 2) for d in range(8)]
    scattered = Plan(
        changes=tuple(
            Change(place=p, what=What.ADDRESS, before="", after=f"10.20.{p.device}.{p.name[6:]}/24") for p in places
        )
    )
    assert lines(record(exit=1, verb="plan", plan=scattered), width=width)[2] == drawn


def test_places_are_cut_only_where_the_line_is_too_short_and_one_place_never() -> None:
    places = [device_place(f"server{s}", 0) for s in range(1, 33, 2)]
    wide = Plan(changes=tuple(Change(place=p, what=What.NETDETECT, before="", after="10.20.0.1") for p in places))
    (row,) = [x for x in lines(record(exit=1, verb="plan", plan=wide), width=120) if "netdetect" in x]
    assert row.endswith("server[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31]/0 ×16  (unset) → 10.20.0.1")
    alone = device_place("a-server-with-a-long-name.example.org", 7)
    one = Plan(changes=(Change(place=alone, what=What.ADDRESS, before="", after="10.20.0.1/24"),))
    (row,) = [x for x in lines(record(exit=1, verb="plan", plan=one), width=60) if "address" in x]
    assert f" {alone}  (unset)"[:48] in row


def test_the_failed_step_is_never_the_one_left_out() -> None:
    value = replace(many(500), steps=tuple(Step(verb=f"v{i}", exit=int(i == 11), seconds=1) for i in range(12)))
    drawn = lines(value)
    assert any(line.startswith(" FAIL") and "v11" in line for line in drawn)
    assert any(line.endswith("earlier") for line in drawn)


@pytest.mark.parametrize(
    ("proven", "planned", "words"),
    [
        (908, 960, "covered 908 of 960 pairs (94.6 %)"),
        (99999, 100000, "covered 99,999 of 100,000 pairs (99.9 %)"),
        (960, 960, "covered 960 of 960 pairs (100 %)"),
        (0, 0, "covered 0 of 0 pairs"),
    ],
)
def test_coverage_never_rounds_up_to_all(proven: int, planned: int, words: str) -> None:
    value = record(verb="mesh", extra={"coverage": {"proven": proven, "planned": planned}})
    assert words in lines(value)


def test_a_job_tells_its_ranks_and_who_failed_first() -> None:
    ranks = [{"rank": r, "exit": 1 if r == 3 else None, "signal": None if r == 3 else 15} for r in range(16)]
    first = {"rank": 3, "server": "server1", "exit": 1, "tail": ["ValueError: x", "\x1b[31mred"]}
    drawn = lines(
        record(exit=1, verb="run", extra={"job": "j7", "cause": "rank_failed", "ranks": ranks, "first_failure": first})
    )
    assert drawn[1].startswith("JOB FAILED")
    assert " first to fail: rank 3, server1: exit 1" in drawn
    assert " ranks: 15 × signal 15, 1 × exit 1   j7   rank_failed" in drawn
    assert "   | \\x1b[31mred" in drawn


def test_a_cause_is_told_in_the_readers_language() -> None:
    value = busy(1)
    assert any("rank 3 ran out of memory (server server1, rank [3-4], device 3)" in line for line in lines(value))
    assert any("rank 3 内存不足" in line for line in lines(value, Lang.ZH))


def test_trouble_of_a_change_is_told_by_server() -> None:
    extra = {
        "not_accepted": {"server1": ["rc 7"], "server2": ["rc 7"]},
        "failed": [{"server": "s9", "reason": "disk full"}],
    }
    drawn = lines(record(exit=1, verb="apply", extra=extra))
    assert " FAIL  server[1-2]: rc 7" in drawn
    assert " FAIL  s9: disk full" in drawn


def test_a_job_that_was_left_while_it_runs_is_not_done_and_a_list_is_no_job() -> None:
    left = replace(record(verb="run"), extra={"job": "j", "phase": "running", "ranks": [{"rank": 0, "exit": None}]})
    assert lines(left)[1].startswith("RUNNING")
    assert lines(left, Lang.ZH)[1].startswith("运行中")
    assert not any("exit ?" in line for line in lines(left))
    assert lines(replace(left, extra={"job": "j", "phase": "ended"}))[1].startswith("JOB DONE")
    assert lines(record(verb="ps"))[1].startswith("LISTED")


def test_how_the_first_rank_ended_is_told_in_words() -> None:
    how = {"en": "signal 9 (SIGKILL): killed by the kernel for lack of memory", "zh": "信号 9：内存不足"}
    first = {"rank": 1, "server": "b", "signal": 9, "how": how}
    value = replace(
        record(verb="run", exit=1), extra={"phase": "ended", "first_failure": first, "still_held": {"b/0": [how]}}
    )
    assert any("rank 1, b: signal 9 (SIGKILL): killed by the kernel" in line for line in lines(value))
    assert any("FAIL  b/0" in line for line in lines(value))
