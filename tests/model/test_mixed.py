"""Who differs, from what, and what is said when nobody holds a majority; whose value of a variable counts."""

from __future__ import annotations

import pytest

from rankready.model.job_variables import number_in_force
from rankready.model.majority import mixed
from rankready.model.place import device_place

A, B, C, D = (device_place("server1", n) for n in range(4))


def test_an_outlier_is_named_with_what_most_have() -> None:
    assert list(mixed({A: 1, B: 2, C: 1})) == [(B, 2, (1,))]


def test_on_a_tie_every_side_is_named_with_all_the_others() -> None:
    assert list(mixed({A: 1, B: 2, C: 3})) == [(A, 1, (2, 3)), (B, 2, (1, 3)), (C, 3, (1, 2))]
    assert list(mixed({A: "x", B: "y", C: "x", D: "y"})) == [
        (A, "x", ("y",)), (B, "y", ("x",)), (C, "x", ("y",)), (D, "y", ("x",)),
    ]  # fmt: skip


@pytest.mark.parametrize("values", [{}, {A: 1}, {A: 1, B: 1}], ids=["none", "one", "equal"])
def test_nobody_differs_where_all_are_equal(values: dict[object, int]) -> None:
    assert list(mixed(values)) == []  # type: ignore[arg-type]


SL = "HCCL_RDMA_SL"


@pytest.mark.parametrize(
    ("job", "shell", "value", "source"),
    [
        ({SL: "3"}, {SL: "5"}, 3, "job: env: of cluster.yaml"),
        ({}, {SL: "5"}, 5, "the server's shell"),
        ({}, {}, 4, "HCCL's default"),
    ],
    ids=["the cluster file", "the shell", "HCCL itself"],
)
def test_the_nearest_source_of_a_variable_wins(
    job: dict[str, str], shell: dict[str, str], value: int, source: str
) -> None:
    found = number_in_force(SL, job, shell)
    assert found is not None
    assert (found.value, found.source.en) == (value, source)


@pytest.mark.parametrize("value", ["8", "-1", "four", "", "4.0"])
def test_a_value_that_hccl_refuses_is_in_force_nowhere(value: str) -> None:
    assert number_in_force(SL, {SL: value}, {}) is None
    assert number_in_force(SL, {}, {SL: value}) is None


def test_the_traffic_class_has_its_own_default_and_bounds() -> None:
    name = "HCCL_RDMA_TC"
    found = number_in_force(name, {}, {})
    assert found is not None
    assert found.value == 132
    assert number_in_force(name, {name: "256"}, {}) is None
