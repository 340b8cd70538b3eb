from __future__ import annotations

import pytest

from rankready.cli._addressed import addressed, addressed_text, named
from rankready.cli._app import ORDER
from rankready.kind.check import finding
from rankready.model.finding import Outcome, Verdict
from rankready.model.place import server_place
from rankready.model.record import Record
from rankready.model.text import Text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("rankready plan", "rankready -f 'my lab/c.yaml' plan"),
        ("look again: rankready check --only NET001", "look again: rankready -f 'my lab/c.yaml' check --only NET001"),
        (
            "more: rankready explain NET001   rankready report",
            "more: rankready explain NET001   rankready -f 'my lab/c.yaml' report",
        ),
        ("rankready -f 'my lab/c.yaml' plan", "rankready -f 'my lab/c.yaml' plan"),
        ("rankready planet", "rankready planet"),
        ("more: rankready report   exit 1", "more: rankready -f 'my lab/c.yaml' report   exit 1"),
        ("rankready check   lab   2 servers", "rankready check   lab   2 servers"),
    ],
)
def test_commands_on_a_cluster_name_its_file(text: str, wanted: str) -> None:
    assert addressed_text(text, "my lab/c.yaml", ORDER) == wanted


def test_a_file_that_needs_no_name_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKREADY_CLUSTER", raising=False)
    assert named("cluster.yaml", "cluster.yaml") == ""
    assert named("lab/cluster.yaml", "cluster.yaml") == "lab/cluster.yaml"
    monkeypatch.setenv("RANKREADY_CLUSTER", "lab/cluster.yaml")
    assert named("lab/cluster.yaml", "cluster.yaml") == ""


def test_remedies_and_the_next_step_of_a_record_name_it() -> None:
    place = server_place("server1")
    item = finding("JOB001", place, Text("a", "b"), remedy=Text("rankready ps; wait", "rankready ps；等待"))
    verdict = Verdict(code="JOB001", place=place, outcome=Outcome.FAIL, findings=(item,))
    step = Text("rankready plan", "rankready plan")
    record = Record(
        verb="up",
        cluster="lab",
        started="",
        seconds=0.0,
        exit=1,
        verdicts=(verdict,),
        extra={"next": step, "job": None},
    )
    shown = addressed(record, "c.yaml", ORDER)
    assert shown.verdicts[0].findings[0].remedy == Text("rankready -f c.yaml ps; wait", "rankready -f c.yaml ps；等待")
    assert shown.extra == {"next": Text("rankready -f c.yaml plan", "rankready -f c.yaml plan"), "job": None}
