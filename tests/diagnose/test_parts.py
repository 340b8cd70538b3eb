"""The small parts of the diagnosis: moments, clocks, tracebacks, waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.diagnose.clock import Witness, offsets
from rankready.diagnose.device import device_kind
from rankready.diagnose.event import Event, Line
from rankready.diagnose.follow import circles, sinks
from rankready.diagnose.headers import records
from rankready.diagnose.job import read_collected, read_job
from rankready.diagnose.stamps import file_stamp, shown, stamp
from rankready.diagnose.tracebacks import tracebacks
from rankready.signatures import device_event

if TYPE_CHECKING:
    from rankready.kind.signature import Signature

NINE = stamp("2025-11-18 09:00:00", 1970)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[ERROR] HCCL(1,x):2025-11-18-09:05:00.123.456 [a]", "2025-11-18T09:05:00"),
        ("[Tue Nov 18 09:05:00 2025] eth0: link up", "2025-11-18T09:05:00"),
        ("Nov 18 09:05:00 node02 kernel: eth0", "2025-11-18T09:05:00"),
        ("Nov  8 09:05:00 node02 kernel: eth0", "2025-11-08T09:05:00"),
        ("W1118 09:05:02.100000 281473 torch", "2025-11-18T09:05:02"),
        ("2020-12-31T00:39:25.857705+08:00|warning|kernel[-]|x", "2020-12-31T00:39:26"),
        (" [2025-11-18 09:05:00] iteration 1/10", "2025-11-18T09:05:00"),
    ],
)
def test_every_form_of_a_moment_is_read(text: str, told: str) -> None:
    found = stamp(text, 2025)
    assert found is not None
    assert shown(found) == told


@pytest.mark.parametrize(
    "text", ["", "no moment here", "[1197.58] kernel", "2025-13-45 99:99:99", "Feb 30 09:00:00 n x"]
)
def test_what_is_no_moment_is_none(text: str) -> None:
    assert stamp(text, 2025) is None
    assert file_stamp(text) is None


@given(st.text())
def test_no_text_breaks_the_reading_of_moments(text: str) -> None:
    stamp(text, 2025)
    records(text)


def test_two_records_in_one_line_are_two() -> None:
    head = "[ERROR] HCCL(1,x):2025-11-18-09:05:00.123.456 [a.cc:1]"
    assert len(records(f"{head} one ret[9]{head} two")) == 2
    assert records("plain") == ("plain",)


def test_measured_clocks_are_believed_and_estimated_ones_are_aligned() -> None:
    assert NINE is not None
    hosts = {
        "a": Witness(measured=0.0, ready=NINE + 5, began=NINE),
        "b": Witness(measured=None, ready=NINE + 605, began=NINE + 600),
    }
    found = offsets(hosts, NINE, utc=False)
    assert found["a"].seconds == 0.0
    assert found["b"].seconds == 600.0
    assert found["b"].how == "estimated"


def test_a_measurement_that_the_ranks_contradict_is_corrected() -> None:
    assert NINE is not None
    hosts = {
        "a": Witness(measured=0.0, ready=NINE + 5, began=NINE + 1),
        "b": Witness(measured=0.0, ready=NINE - 595, began=NINE - 599),
    }
    found = offsets(hosts, NINE, utc=False)
    assert found["b"].seconds == -600.0
    assert found["b"].how == "corrected"


def test_zones_are_taken_off_in_quarters_of_an_hour() -> None:
    assert NINE is not None
    hosts = {"a": Witness(measured=0.2, began=NINE + 8 * 3600 + 3)}
    assert offsets(hosts, NINE, utc=True)["a"].seconds == pytest.approx(8 * 3600 + 0.2)


def lines(*texts: str) -> tuple[Line, ...]:
    return tuple(Line(file="f", number=n, text=t, offset=n * 100) for n, t in enumerate(texts, 1))


def test_a_traceback_is_read_with_its_innermost_frame() -> None:
    found = list(
        tracebacks(
            lines(
                "[rank3]: Traceback (most recent call last):",
                '[rank3]:   File "/a.py", line 1, in f',
                "[rank3]:     g()",
                '[rank3]:   File "/b.py", line 2, in g',
                "[rank3]:     ^^^",
                "[rank3]: torch.cuda.OutOfMemoryError: no room",
            )
        )
    )
    assert [(f.type, f.message, f.frame, f.last.number) for f in found] == [
        ("torch.cuda.OutOfMemoryError", "no room", "/b.py:2", 6)
    ]


def test_a_traceback_that_is_cut_tells_nothing() -> None:
    assert list(tracebacks(lines("Traceback (most recent call last):", '  File "/a.py", line 1, in f'))) == []


def test_waits_end_where_nobody_waits_on() -> None:
    assert sinks({0: [1], 1: [2], 3: [2]}) == (2,)
    assert sinks({0: [1], 1: [0]}) == ()
    assert circles({0: [1], 1: [0], 2: [0]}) == (0, 1)


@given(st.dictionaries(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=3), max_size=10))
def test_a_sink_waits_for_nobody_and_is_waited_for(waits: dict[int, list[int]]) -> None:
    for rank in sinks(waits):
        assert not waits.get(rank)
        assert any(rank in peers for peers in waits.values())


KINDS = {c.code: c.kind for c in device_event.CODES}


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"event": "81078603", "assertion": "1"}, "link_down"),
        ({"event": "81078603", "assertion": "0"}, ""),
        ({"event": "80e01801"}, "hbm_ecc"),
        ({"event": "80E01809"}, ""),
        ({"event": "80C98002"}, "aicore_exception"),
        ({"event": "80FFFFFF"}, ""),
    ],
)
def test_events_prove_what_the_catalogue_says(fields: dict[str, str], kind: str) -> None:
    signature: Signature = device_event.SIGNATURES[0]
    event = Event(signature=signature, line=Line(file="f", number=1, text=""), host="h", fields=fields)
    assert device_kind(KINDS, event) == kind


@pytest.mark.parametrize(
    "told", [None, [], "x", {"ranks": 3}, {"ranks": [{"rank": -1}, {"rank": True}, 7]}, {"hosts": [{}]}]
)
def test_odd_records_are_passed_over(told: object) -> None:
    assert read_job(told, told).processes == ()
    assert read_collected(told).unreachable == ()
