from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.model.errors import PlanError
from rankready.plan.waves import waves

NAMES = tuple(f"server{n}" for n in range(1, 10))


@given(st.integers(0, 40), st.integers(0, 3), st.floats(0.01, 1), st.one_of(st.none(), st.integers(1, 50)))
def test_every_server_once_in_order(count: int, canary: int, share: float, batch: int | None) -> None:
    servers = tuple(f"s{n}" for n in range(count))
    cut = waves(servers, canary=canary, share=share, batch=batch)
    assert tuple(name for wave in cut for name in wave) == servers
    assert all(cut) or not servers
    assert not canary or not servers or len(cut[0]) == min(canary, count)


def test_a_canary_then_quarters() -> None:
    assert [len(w) for w in waves(NAMES)] == [1, 3, 3, 2]


def test_a_size_wins_over_a_share() -> None:
    assert [len(w) for w in waves(NAMES, canary=2, batch=5)] == [2, 5, 2]


@pytest.mark.parametrize("more", [{"canary": -1}, {"share": 0.0}, {"share": 1.1}, {"batch": 0}])
def test_numbers_that_make_no_sense(more: dict[str, int]) -> None:
    with pytest.raises(PlanError, match="expected canary >= 0"):
        waves(NAMES, **more)
