"""The engine: gaps become UNKNOWN or SKIP, findings their outcome, and what follows from a root is IMPLIED."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from healthy_cluster import make_cluster, seen

from rankready.kind.check import Check, finding, unsettled, verdicts
from rankready.kind.question import Scope
from rankready.model.finding import Evidence, Outcome, Severity, exit_code
from rankready.model.observed.device import Link, LinkState, Mtu
from rankready.model.place import device_place, server_place
from rankready.model.snapshot import Gap, GapKind, Seen, Snapshot
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.kind.check import Unsettled
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Finding, Verdict
    from rankready.model.place import Place

CLUSTER = make_cluster(2)
HERE = device_place("server2", 3)
THERE = device_place("server1", 3)


def check(code: str, *found: Finding | Unsettled, scope: Scope = Scope.DEVICE, after: tuple[str, ...] = ()) -> Check:
    def judge(_: Cluster, __: Seen) -> Iterator[Finding | Unsettled]:
        yield from found

    return Check(code=code, name="x", title=Text("x", "某"), scope=scope, needs=(Link,), judge=judge, after=after)


def fault(code: str, place: Place, *, severity: Severity = Severity.ERROR, blames: tuple[Place, ...] = ()) -> Finding:
    return finding(code, place, Text("seen", "看到"), remedy="do", severity=severity, blames=blames)


def links(**changes: object) -> Seen:
    facts: dict[tuple[Place, type], object] = {(d, Link): Link(state=LinkState.UP) for d in CLUSTER.devices()}
    for place, value in changes.items():
        server, _, device = place.partition("_")
        facts[device_place(server, int(device)), Link] = value
    return seen(facts)


def outcome(judged: tuple[Verdict, ...], place: Place, code: str = "AAA001") -> Outcome:
    return next(v.outcome for v in judged if v.place == place and v.code == code)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (GapKind.UNKNOWN, Outcome.UNKNOWN),
        (GapKind.BUSY, Outcome.UNKNOWN),
        (GapKind.DENIED, Outcome.UNKNOWN),
        (GapKind.UNSUPPORTED, Outcome.SKIP),
        (GapKind.UNSET, Outcome.PASS),
    ],
)
def test_a_gap_is_never_a_pass_unless_it_is_an_answer(kind: GapKind, expected: Outcome) -> None:
    judged = verdicts([check("AAA001")], CLUSTER, links(server2_3=Gap("why", kind)))
    assert outcome(judged, HERE) is expected
    assert outcome(judged, THERE) is Outcome.PASS
    assert next(v.reason for v in judged if v.place == HERE) == ("" if expected is Outcome.PASS else "why")


@pytest.mark.parametrize("kind", [GapKind.UNKNOWN, GapKind.UNSUPPORTED])
def test_a_cluster_rule_is_not_proven_while_one_fact_is_missing(kind: GapKind) -> None:
    judged = verdicts([check("AAA001", scope=Scope.CLUSTER)], CLUSTER, links(server2_3=Gap("why", kind)))
    assert outcome(judged, CLUSTER.place) is (Outcome.SKIP if kind is GapKind.UNSUPPORTED else Outcome.UNKNOWN)


def test_what_was_never_asked_is_unknown() -> None:
    nothing = Seen(Snapshot())
    for scope in Scope:
        judged = verdicts([check("AAA001", scope=scope)], CLUSTER, nothing)
        assert {v.outcome for v in judged} == {Outcome.UNKNOWN}
        assert exit_code(judged) == 3


@pytest.mark.parametrize(
    ("severity", "expected", "code"),
    [
        (Severity.ERROR, Outcome.FAIL, 1),
        (Severity.WARNING, Outcome.WARN, 0),
        (Severity.NOTE, Outcome.PASS, 0),
    ],
)
def test_severity_makes_the_outcome(severity: Severity, expected: Outcome, code: int) -> None:
    judged = verdicts([check("AAA001", fault("AAA001", HERE, severity=severity))], CLUSTER, links())
    assert outcome(judged, HERE) is expected
    assert exit_code(judged) == code


def test_a_finding_stands_above_a_gap() -> None:
    judged = verdicts([check("AAA001", fault("AAA001", HERE))], CLUSTER, links(server2_3=Gap("why")))
    assert outcome(judged, HERE) is Outcome.FAIL


def test_evidence_is_that_of_the_facts_needed() -> None:
    words = Evidence(command="ask", excerpt="answer")
    look = Seen(Snapshot(facts={(HERE, Link): Link(state=LinkState.DOWN)}, evidence={(HERE, Link): words}))
    judged = verdicts([check("AAA001", fault("AAA001", HERE))], CLUSTER, look)
    assert next(v for v in judged if v.place == HERE).findings[0].evidence == (words,)


@pytest.mark.parametrize(
    ("root", "blames", "implied"),
    [
        (HERE, (), True),
        (server_place("server2"), (), True),
        (THERE, (THERE,), True),
        (THERE, (), False),
        (device_place("server1", 4), (THERE,), False),
    ],
)
def test_a_finding_follows_from_a_root_here_at_the_owner_or_at_a_blamed_place(
    root: Place, blames: tuple[Place, ...], *, implied: bool
) -> None:
    checks = [
        check("AAA001", fault("AAA001", HERE, blames=blames), after=("BBB001",)),
        check("BBB001", fault("BBB001", root)),
    ]
    judged = verdicts(checks, CLUSTER, links())
    assert outcome(judged, HERE) is (Outcome.IMPLIED if implied else Outcome.FAIL)


def test_a_warning_is_no_root() -> None:
    checks = [
        check("AAA001", fault("AAA001", HERE), after=("BBB001",)),
        check("BBB001", fault("BBB001", HERE, severity=Severity.WARNING)),
    ]
    assert outcome(verdicts(checks, CLUSTER, links()), HERE) is Outcome.FAIL


def test_facts_that_a_check_does_not_need_do_not_matter() -> None:
    look = links()
    extra = Seen(look.snapshot.merged(Snapshot(facts={(HERE, Mtu): Gap("busy", GapKind.BUSY)})))
    assert verdicts([check("AAA001")], CLUSTER, extra) == verdicts([check("AAA001")], CLUSTER, look)


def left(place: Place, *, skip: bool = False) -> Unsettled:
    return unsettled(place, "half of it is missing", "缺了一半", skip=skip)


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize(("skip", "expected"), [(False, Outcome.UNKNOWN), (True, Outcome.SKIP)])
def test_what_a_judge_leaves_open_is_no_pass(scope: Scope, *, skip: bool, expected: Outcome) -> None:
    judged = verdicts([check("AAA001", left(HERE, skip=skip), scope=scope)], CLUSTER, links())
    (mine,) = [v for v in judged if v.place == HERE]
    assert (mine.outcome, mine.reason, mine.reason_zh) == (expected, "half of it is missing", "缺了一半")
    assert exit_code((mine,)) == (0 if skip else 3)
    if scope is Scope.CLUSTER:
        assert [v.place for v in judged] == [HERE], "a rule that is open somewhere is not as planned as a whole"


@pytest.mark.parametrize(
    ("severity", "expected"),
    [(Severity.ERROR, Outcome.FAIL), (Severity.WARNING, Outcome.UNKNOWN), (Severity.NOTE, Outcome.UNKNOWN)],
)
@pytest.mark.parametrize("gap", [True, False])
def test_a_place_is_as_bad_as_its_worst(severity: Severity, expected: Outcome, *, gap: bool) -> None:
    found = fault("AAA001", HERE, severity=severity)
    rule = check("AAA001", found) if gap else check("AAA001", found, left(HERE))
    judged = verdicts([rule], CLUSTER, links(server2_3=Gap("why")) if gap else links())
    (mine,) = [v for v in judged if v.place == HERE]
    assert (mine.outcome, len(mine.findings)) == (expected, 1), "and what was found is kept"


def test_nothing_to_judge_hides_no_warning() -> None:
    rule = check("AAA001", fault("AAA001", HERE, severity=Severity.WARNING), left(HERE, skip=True))
    assert outcome(verdicts([rule], CLUSTER, links()), HERE) is Outcome.WARN


@pytest.mark.parametrize(("severity", "expected"), [(Severity.ERROR, 1), (Severity.WARNING, 3), (Severity.NOTE, 3)])
def test_a_warning_does_not_complete_a_cluster_rule(severity: Severity, expected: int) -> None:
    rule = check("AAA001", fault("AAA001", HERE, severity=severity), scope=Scope.CLUSTER)
    judged = verdicts([rule], CLUSTER, links(server1_1=Gap("why")))
    assert exit_code(judged) == expected
    assert any(v.place == CLUSTER.place for v in judged) == (expected == 3)


def test_what_was_left_open_follows_from_a_root_but_a_gap_does_not() -> None:
    root = check("BBB001", fault("BBB001", HERE), fault("BBB001", THERE))
    judged = verdicts([check("AAA001", left(HERE), after=("BBB001",)), root], CLUSTER, links(server1_3=Gap("why")))
    assert outcome(judged, HERE) is Outcome.IMPLIED
    assert outcome(judged, THERE) is Outcome.UNKNOWN


def test_a_finding_elsewhere_asks_for_no_facts_there() -> None:
    rule = check("AAA001", fault("AAA001", HERE, severity=Severity.NOTE), scope=Scope.SERVER)
    look = seen({(s.place, Link): Link(state=LinkState.UP) for s in CLUSTER.servers})
    assert {v.outcome for v in verdicts([rule], CLUSTER, look)} == {Outcome.PASS}
