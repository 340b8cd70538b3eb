"""Records of every size and shape, for the store and the reports."""

from __future__ import annotations

from hypothesis import strategies as st

from rankready.model.change import Change, Plan, Problem, What
from rankready.model.finding import Certainty, Evidence, Finding, Outcome, Severity, Verdict
from rankready.model.place import Place, PlaceKind, device_place, server_place
from rankready.model.record import Record, Step
from rankready.model.text import Text

STARTED = "2026-11-30T17:55:00.123+00:00"
CODES = ("NET001", "NET002", "NET003", "CAB001", "TLS001", "HST002", "FWL001")


def failing(code: str, place: Place, number: int = 0, *, outcome: Outcome = Outcome.FAIL) -> Verdict:
    """One verdict with one finding whose values differ by number."""
    finding = Finding(
        code=code,
        severity=Severity.ERROR if outcome is Outcome.FAIL else Severity.WARNING,
        place=place,
        message=Text(
            en=f"address is 10.20.{number % 256}.9/24, planned 10.20.{number % 256}.7/24",
            zh=f"地址为 10.20.{number % 256}.9/24，规划为 10.20.{number % 256}.7/24",
        ),
        remedy=Text(en="rankready plan, then rankready apply", zh="先执行 rankready plan，再执行 rankready apply"),
        evidence=(Evidence(command="show", excerpt="one\ntwo", at=STARTED),),
    )
    return Verdict(code=code, place=place, outcome=outcome, findings=(finding,))


def verdict(code: str, place: Place, outcome: Outcome, reason: str = "") -> Verdict:
    """One verdict without a finding."""
    return Verdict(code=code, place=place, outcome=outcome, reason=reason)


def record(verdicts: tuple[Verdict, ...] = (), *, exit: int = 0, **parts: object) -> Record:  # noqa: A002  (the record's own word)
    """A record of `check` with these verdicts."""
    fields: dict[str, object] = {
        "verb": "check",
        "cluster": "lab",
        "started": STARTED,
        "seconds": 112.4,
        "servers": 16,
        "devices": 128,
    }
    return Record(verdicts=verdicts, exit=exit, **(fields | parts))  # type: ignore[arg-type]  # fields are typed by hand


def many(count: int) -> Record:
    """A record with that many findings of several codes, unknown ones beside them, and some of everything else."""
    found = [failing(CODES[i % len(CODES)], device_place(f"server{i // 8 + 1:03}", i % 8), i) for i in range(count)]
    unknown = [
        verdict("NET001", device_place(f"server{900 + i}", d), Outcome.UNKNOWN, f"server{900 + i}: connection refused")
        for i in range(count // 10)
        for d in range(8)
    ]
    passed = [verdict("NET001", server_place(f"server{i}"), Outcome.PASS) for i in range(16)]
    return record((*found, *unknown, *passed), exit=1 if count else 0)


def busy(count: int) -> Record:
    """A record of `up` that has every section that there is."""
    plan = Plan(
        changes=tuple(
            Change(place=device_place(f"server{i}", d), what=what, before=before, after=f"10.20.{d}.{i}")
            for i in range(16)
            for d in range(8)
            for what, before in ((What.ADDRESS, ""), (What.GATEWAY, "10.1.1.1"), (What.NETDETECT, None))
        ),
        problems=tuple(
            Problem(rule=f"rule_{i}", places=(server_place(f"server{i}"),), message=f"conflict {i}", zh=f"冲突 {i}")
            for i in range(count)
        ),
        unread=((server_place("server99"), Text("timeout", "超时")),),
    )
    steps = tuple(Step(verb=f"step{i}", exit=0 if i < 9 else 1, seconds=1.5, note="说明 note") for i in range(10))
    extra = {
        "coverage": {"proven": 959, "planned": 960, "rounds": 3, "bound": 0.01, "seconds": 3.0},
        "suspects": [
            {"places": [f"server{i}/3"], "kind": "device", "witnesses": 9, "certainty": "likely", "next_test": "look"}
            for i in range(count)
        ],
        "cause": {
            "kind": "oom",
            "codes": ["EI0006"],
            "servers": ["server1"],
            "ranks": [3, 4],
            "devices": [3],
            "time": STARTED,
            "certainty": "sure",
            "title": {"en": "rank 3 ran out of memory", "zh": "rank 3 内存不足"},
        },
        "evidence": [{"file": "plog.log", "line": 12, "text": "killed \x1b[31m"}],
        "ranks": [{"rank": i, "server": "server1", "local_rank": i, "exit": 0, "signal": None} for i in range(8)],
        "first_failure": {"rank": 3, "server": "server1", "exit": None, "signal": 9},
        "job": "j1",
        "not_checked": ["server9: no logs"],
        "notes": [Text(en="a remark", zh="一条说明")],
        "failed": [{"server": "server5", "reason": "disk full"}],
        "not_accepted": {"server6": ["refused"]},
    }
    whole = many(count)
    return record(whole.verdicts, exit=1, verb="up", plan=plan, steps=steps, extra=extra, simulated=True)


WORDS = st.text(max_size=20)
PLACES = st.one_of(
    st.builds(Place, st.sampled_from([PlaceKind.SERVER, PlaceKind.LEAF, PlaceKind.CLUSTER]), WORDS),
    st.builds(device_place, WORDS, st.integers(0, 15)),
    st.builds(Place, st.just(PlaceKind.PORT), WORDS, st.just(-1), WORDS),
)
TEXTS = st.builds(Text, WORDS, WORDS)
FINDINGS = st.builds(
    Finding,
    code=WORDS,
    severity=st.sampled_from(Severity),
    certainty=st.sampled_from(Certainty),
    place=PLACES,
    message=TEXTS,
    remedy=st.one_of(WORDS, TEXTS),
    evidence=st.lists(st.builds(Evidence, command=WORDS, excerpt=WORDS, at=WORDS), max_size=2).map(tuple),
    blames=st.lists(PLACES, max_size=2).map(tuple),
)
VERDICTS = st.builds(
    Verdict,
    code=WORDS,
    place=PLACES,
    outcome=st.sampled_from(Outcome),
    findings=st.lists(FINDINGS, max_size=2).map(tuple),
    reason=WORDS,
    reason_zh=WORDS,
)
PLANS = st.builds(
    Plan,
    changes=st.lists(
        st.builds(
            Change,
            place=PLACES,
            what=st.sampled_from(What),
            before=st.none() | WORDS,
            after=WORDS,
            reason=WORDS,
        ),
        max_size=2,
    ).map(tuple),
    problems=st.lists(
        st.builds(Problem, rule=WORDS, places=st.lists(PLACES, max_size=2).map(tuple), message=WORDS, zh=WORDS),
        max_size=2,
    ).map(tuple),
    unread=st.lists(st.tuples(PLACES, st.builds(Text, WORDS, WORDS)), max_size=2).map(tuple),
)
SECONDS = st.floats(0, 1e6, allow_nan=False)
JSONS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 53), 1 << 53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
_KEYS = (
    "coverage",
    "suspects",
    "cause",
    "evidence",
    "ranks",
    "first_failure",
    "notes",
    "not_checked",
    "failed",
    "held",
)
RECORDS = st.builds(
    Record,
    verb=WORDS,
    cluster=WORDS,
    started=WORDS,
    seconds=SECONDS,
    exit=st.sampled_from([0, 1, 2, 3, 130]),
    simulated=st.booleans(),
    servers=st.integers(0, 5000),
    devices=st.integers(0, 90000),
    verdicts=st.lists(VERDICTS, max_size=3).map(tuple),
    plan=st.none() | PLANS,
    steps=st.lists(st.builds(Step, verb=WORDS, exit=st.integers(0, 130), seconds=SECONDS, note=WORDS), max_size=2).map(
        tuple
    ),
    extra=st.dictionaries(st.sampled_from(_KEYS) | WORDS, JSONS, max_size=3),
)
