from __future__ import annotations

import json
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from rankready.model.finding import Evidence, Outcome
from rankready.model.place import cluster_place, device_place
from rankready.model.plain import plain
from rankready.model.text import Text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (device_place("server1", 3), "server1/3"),
        (cluster_place("lab"), "lab"),
        (Text(en="a", zh="b"), {"en": "a", "zh": "b"}),
        (Outcome.FAIL, "fail"),
        (IPv4Interface("10.0.0.1/24"), "10.0.0.1/24"),
        (Path("/x"), "/x"),
        ((1, [2.5, None], True), [1, [2.5, None], True]),
        (frozenset({"b", "a"}), ["a", "b"]),
        (float("inf"), None),
        (b"a\xff", "a\ufffd"),
        ("\ud800", "?"),
        ({device_place("s", 0): 1, 2: 3}, {"s/0": 1, "2": 3}),
        (Evidence(command="c", excerpt="e"), {"command": "c", "excerpt": "e", "at": ""}),
    ],
)
def test_every_value_becomes_what_json_knows(value: object, expected: object) -> None:
    found = plain(value)
    assert found == expected
    assert json.loads(json.dumps(found)) == expected
