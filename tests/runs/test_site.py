"""A waiver takes a finding out of the exit code, never out of the record, and ends by itself."""

from __future__ import annotations

import dataclasses
import datetime as dt
from pathlib import Path

import pytest
from small_cluster import CLUSTER

from rankready.model.cluster import Waiver
from rankready.model.finding import Outcome, Verdict
from rankready.model.place import device_place
from rankready.runs.fleet import Fleet
from rankready.runs.site import Site
from rankready.transports.local import LocalTransport

BAD = Verdict(code="NET001", place=device_place("server1", 1), outcome=Outcome.FAIL)


@pytest.mark.parametrize(
    ("days", "code", "exit_"), [(1, "NET001", 0), (0, "NET001", 0), (-1, "NET001", 1), (1, "NET002", 1)]
)
def test_a_waiver_counts_until_its_day(days: int, code: str, exit_: int) -> None:
    expires = dt.datetime.now(tz=dt.UTC).date() + dt.timedelta(days=days)
    waiver = Waiver(code=code, place=BAD.place, reason="known", expires=expires)
    cluster = dataclasses.replace(CLUSTER, waivers=(waiver,))
    site = Site(cluster=cluster, fleet=Fleet(cluster, LocalTransport()), home=Path("/nowhere"), say=lambda _: None)
    record = site.judged("check", (BAD,))
    assert (record.exit, record.verdicts) == (exit_, (BAD,))
    assert ("waived" in record.extra) is (exit_ == 0)
