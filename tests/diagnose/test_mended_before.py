"""A link that fell and came back before the job began is some other job's trouble; one that stayed down is ours."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rankready.diagnose.assemble import _in_time
from rankready.diagnose.job import Job


def event(at: float, assertion: str, code: str = "81078603") -> SimpleNamespace:
    return SimpleNamespace(
        kind="device_event", host="server2", rank=11, at=at, stream=None, fields={"event": code, "assertion": assertion}
    )


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([event(90, "1"), event(95, "0")], 0),
        ([event(90, "1")], 1),
        ([event(90, "1"), event(95, "0", "8107800D")], 1),
        ([event(90, "1"), event(95, "0"), event(101, "1")], 1),
        ([event(90, "1"), event(102, "0")], 2),
    ],
    ids=["mended before", "never mended", "another fault mended", "fell again", "mended while it ran"],
)
def test_what_was_over_before_the_job_is_left_out(told: list[SimpleNamespace], left: int) -> None:
    kept = _in_time(told, Job(started=100.0), {})  # type: ignore[arg-type]
    assert len(kept) == left
