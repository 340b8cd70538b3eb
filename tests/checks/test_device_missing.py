"""Devices that nobody planned are told as a note: a case file sees outcomes alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from healthy_cluster import load_case, seen

from rankready.checks import device_missing
from rankready.model.finding import Severity

CASES = Path(__file__).parents[1] / "cases" / "device_missing"


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("more_than_named", "devices 8, 9 are there, but not in the cluster file"),
        ("more_listed_without_physical_ids", "9 devices are listed, planned 8: 1 are not in the cluster file"),
    ],
)
def test_a_device_that_nobody_named_is_noted(case: str, said: str) -> None:
    cluster, facts, _ = load_case(CASES / f"{case}.toml")
    (found,) = device_missing.judge(cluster, seen(facts))
    assert (found.message.en, found.severity, str(found.place)) == (said, Severity.NOTE, "server2")


@pytest.mark.parametrize("case", ["quiet", "all_listed_without_physical_ids"])
def test_as_many_as_named_are_not(case: str) -> None:
    cluster, facts, _ = load_case(CASES / f"{case}.toml")
    assert list(device_missing.judge(cluster, seen(facts))) == []
