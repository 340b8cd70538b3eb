"""What is not known, or stopped, says what to do next: on the screen, on the page, in both languages."""

from __future__ import annotations

import pytest
from some_records import record, verdict

from rankready.model.change import Plan
from rankready.model.finding import Outcome
from rankready.model.place import cluster_place, device_place, server_place
from rankready.model.record import Step
from rankready.model.text import Lang, Text
from rankready.reports._next import by_hand, settle
from rankready.reports.html import REPORT as HTML
from rankready.reports.text import REPORT as TEXT

LOGINS = {"s1": "ssh -p 2222 root@10.0.0.1"}
S1 = server_place("s1")


def screen(value: object, lang: Lang = Lang.EN) -> str:
    return TEXT.draw(value, lang, 100)  # type: ignore[arg-type]  # records are made by hand


def test_a_silent_server_says_how_to_log_in() -> None:
    value = record((verdict("HST001", S1, Outcome.UNKNOWN, "s1: no answer"),), exit=3, extra={"logins": LOGINS})
    assert "next: log in by hand: ssh -p 2222 root@10.0.0.1" in screen(value)
    assert "处理：手动登录：ssh -p 2222 root@10.0.0.1" in screen(value, Lang.ZH)
    page = HTML.draw(value, Lang.EN, 0)
    assert "手动登录：ssh -p 2222 root@10.0.0.1" in page
    assert "log in by hand" in page


@pytest.mark.parametrize(
    ("code", "reason", "words"),
    [
        ("NET001", "busy after 3 tries", "rankready check --only NET001"),
        ("NET009", "no probe was made", "rankready mesh"),
        ("RTB090", "not read", "rankready ranktable check"),
        ("JOB006", "no answer", "rankready run"),
        ("TLS001", "words that we don't know: 'x'", "rankready bundle"),
    ],
)
def test_every_other_unknown_says_what_would_settle_it(code: str, reason: str, words: str) -> None:
    told = settle((code,), (device_place("s1", 0),), reason, {})
    assert words in told.en
    assert words in told.zh
    assert f"next: {told.en}" in screen(record((verdict(code, S1, Outcome.UNKNOWN, reason),), exit=3))


def test_no_login_is_made_up() -> None:
    assert by_hand(["s2"], LOGINS).en == "log in by hand by ssh"


def test_a_plan_that_could_not_read_a_server_tells_it_once() -> None:
    lost = "s1 (root@10.0.0.1:2222): Connection refused"
    told = {what: Text(f"{what}: {lost}", f"{what}：{lost}") for what in ("hccn.conf", "address")}
    plan = Plan(unread=((S1, told["hccn.conf"]), *((device_place("s1", d), told["address"]) for d in range(8))))
    page = screen(record(verb="plan", exit=3, plan=plan, extra={"logins": LOGINS}))
    assert page.count("Connection refused") == 1
    assert "ssh -p 2222" in page


def test_reasons_that_hold_a_told_reason_are_not_told_again() -> None:
    lost = "s1: no answer"
    value = record(
        (
            verdict("HST001", S1, Outcome.UNKNOWN, lost),
            verdict("NET009", cluster_place("lab"), Outcome.UNKNOWN, f"8 of 16 probes were not measured; {lost}"),
        ),
        exit=3,
    )
    assert screen(value).count("no answer") == 1


def test_where_up_stopped_it_says_what_to_type() -> None:
    told = Text("rankready mesh; then the same again", "rankready mesh；然后再次执行")
    value = record(verb="up", exit=1, steps=(Step(verb="mesh", exit=1, seconds=1),), extra={"next": told})
    assert " next: rankready mesh; then" in screen(value)
    assert "处理：rankready mesh；然后" in screen(value, Lang.ZH)
    assert "rankready mesh；然后再次执行" in HTML.draw(value, Lang.EN, 0)


@pytest.mark.parametrize(
    ("code", "stopped", "words"),
    [(0, None, "JOB DONE"), (1, "run", "JOB FAILED"), (1, "logs", "NOT READY"), (3, "run", "UNDECIDED")],
)
def test_up_that_came_to_the_job_speaks_of_the_job(code: int, stopped: str | None, words: str) -> None:
    extra = {"ranks": [{"rank": 0, "server": "s1", "local_rank": 0, "exit": code}], "stopped_at": stopped}
    assert screen(record(verb="up", exit=code, extra=extra)).splitlines()[1].startswith(words)
    assert "JOB" not in screen(record(verb="up", exit=code, extra={"ranks": [], "stopped_at": "check"}))


def test_pending_changes_of_a_dry_run_are_no_failure() -> None:
    steps = (Step(verb="apply", exit=1, seconds=1, note="32"), Step(verb="cabling", exit=1, seconds=1))
    dry = screen(record(verb="up", exit=1, steps=steps, extra={"dry_run": True}))
    assert " todo  apply" in dry
    assert " FAIL  cabling" in dry
    assert "todo" not in screen(record(verb="up", exit=1, steps=steps))


def test_a_page_lists_ranks_the_failed_ones_first() -> None:
    ranks = [{"rank": i, "server": f"s{i}", "local_rank": 0, "exit": int(i == 3), "signal": None} for i in range(4)]
    page = HTML.draw(record(verb="run", exit=1, extra={"ranks": ranks, "job": "j"}), Lang.EN, 0)
    assert "<details open>" in page
    assert page.index(">s3<") < page.index(">s0<")
    good = [r | {"exit": 0} for r in ranks]
    assert "<details open>" not in HTML.draw(record(verb="run", extra={"ranks": good, "job": "j"}), Lang.EN, 0)


def test_a_page_asks_the_network_for_nothing_and_prints_its_evidence() -> None:
    page = HTML.draw(record(), Lang.EN, 0)
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page
    assert "details-content" in page
    assert "2026-11-30 17:55:00 UTC" in page
