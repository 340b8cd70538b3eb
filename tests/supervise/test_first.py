from __future__ import annotations

import pytest

from rankready.model.job import RankEnd
from rankready.supervise.first import first_of, start_skew


def end(rank: int, ended: float | None, *, exit: int | None = 1, signal: int | None = None) -> RankEnd:  # noqa: A002  (the field's name)
    return RankEnd(server="a", rank=rank, local_rank=rank, exit=exit, signal=signal, ended=ended)


def test_nobody_failed() -> None:
    assert first_of((), {}) is None


def test_without_words_the_earliest_is_first() -> None:
    found = first_of((end(1, 5.2), end(0, 5.1)), {})
    assert found is not None
    assert found.rank == 0


def test_who_only_lost_a_peer_is_not_first_although_its_process_ended_first() -> None:
    tails = {("a", 0): ["waiting for rank 1: peer closed"], ("a", 1): ["RuntimeError: my own"]}
    found = first_of((end(0, 5.000), end(1, 5.013)), tails)
    assert found is not None
    assert found.rank == 1


def test_a_signal_comes_before_words() -> None:
    found = first_of((end(0, 5.0), end(1, 5.1, exit=None, signal=9)), {("a", 0): ["ValueError"]})
    assert found is not None
    assert found.rank == 1


def test_who_failed_much_later_is_never_first() -> None:
    tails = {("a", 0): ["Connection reset by peer"], ("a", 1): ["RuntimeError: my own"]}
    found = first_of((end(0, 5.0), end(1, 9.0), end(2, None)), tails)
    assert found is not None
    assert found.rank == 0


def test_skew_lies_between_the_first_starts_of_servers() -> None:
    found = start_skew({"a": (10.0, 10.2), "b": (11.5, 11.4)})
    assert found is not None
    assert found[0] == pytest.approx(1.4)
    assert found[1] == {"a": 0.0, "b": 1.4}
    assert start_skew({"a": (10.0,), "b": ()}) == (0.0, {"a": 0.0})
    assert start_skew({"a": ()}) is None
