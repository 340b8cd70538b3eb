from __future__ import annotations

import pytest
from plan_cases import PRODUCTS

from rankready.model.cluster import Generation
from rankready.model.errors import PlanError
from rankready.plan.devices import devices_note, pick_devices

A1, A2, A3 = Generation.A1, Generation.A2, Generation.A3


@pytest.mark.parametrize(
    ("generation", "wanted", "picked"),
    [
        (A1, 1, (0,)),
        (A1, 2, (0, 1)),
        (A1, 4, (0, 1, 2, 3)),
        (A1, 8, tuple(range(8))),
        (A1, [7, 4], (4, 7)),
        (A1, [5], (5,)),
        (A2, 3, (0, 1, 2)),
        (A2, [0, 7], (0, 7)),
        (A3, 16, tuple(range(16))),
    ],
)
def test_a_pick(generation: Generation, wanted: int | list[int], picked: tuple[int, ...]) -> None:
    assert pick_devices(PRODUCTS[generation], wanted) == picked


@pytest.mark.parametrize(
    ("generation", "wanted", "words"),
    [
        (A1, 3, "3 devices asked for"),
        (A1, 0, "a server has 8"),
        (A1, 16, "a server has 8"),
        (A1, [3, 4], "cross the rings"),
        (A1, [0, 1, 4, 5], "cross the rings"),
        (A1, [0, 1, 2], "3 devices asked for"),
        (A1, [0, 0], "named twice"),
        (A1, [0, 8], "no device 8"),
        (A2, 9, "a server has 8"),
        (A3, [0, 16], "no device 16"),
        (A1, [], "0 devices asked for"),
    ],
)
def test_a_pick_that_breaks_the_rule_says_the_rule_in_both_languages(
    generation: Generation, wanted: int | list[int], words: str
) -> None:
    with pytest.raises(PlanError, match=words) as caught:
        pick_devices(PRODUCTS[generation], wanted)
    rule = PRODUCTS[generation].counts_rule
    assert rule.en in str(caught.value)
    assert rule.zh in str(caught.value)


def test_a_busy_ring_sends_four_to_the_other() -> None:
    assert pick_devices(PRODUCTS[A1], 4, busy=[2]) == (4, 5, 6, 7)
    assert pick_devices(PRODUCTS[A1], 2, busy=[1]) == (2, 3)
    with pytest.raises(PlanError, match="in use: 2,5"):
        pick_devices(PRODUCTS[A1], 4, busy=[5, 2])


@pytest.mark.parametrize(
    ("generation", "picked", "loud"),
    [
        (A2, (0, 1, 2), True),
        (A2, (0, 1), False),
        (A3, (0, 1), False),
        (A3, (0, 2), True),
        (A3, (0,), False),
        (A1, (0, 1, 2, 3), False),
    ],
)
def test_an_unusual_pick_gets_a_remark(generation: Generation, picked: tuple[int, ...], *, loud: bool) -> None:
    assert (devices_note(PRODUCTS[generation], picked) is not None) is loud
