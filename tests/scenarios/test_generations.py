"""Every generation and topology, from blank to verified: quiet once applied, exact about what is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from lab_stage import declared, roots, stage

from rankready.lab.spec import Generation, Topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab_stage import Stage

pytestmark = pytest.mark.namespaces

SHAPES: dict[str, dict[str, Any]] = {
    "a1 direct": {"topology": Topology.DIRECT},
    "a2": {"generation": Generation.A2},
    "a3": {"generation": Generation.A3},
    "a1, four servers": {"servers": 4},
}
BROKEN = {"a1 direct": "server1/5", "a2": "server2/7", "a3": "server2/15", "a1, four servers": "server3/3"}


@pytest.fixture(scope="module", params=SHAPES)
def shape(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Stage]]:
    with stage(tmp_path_factory.mktemp("lab") / "lab", **SHAPES[request.param]) as made:
        yield request.param, made


def broken(made: Stage, kind: str, *places: str, verbs: tuple[str, ...] = ("check", "mesh")) -> None:
    """Break, see exactly what was declared, mend."""
    told = made.lab.fault(kind, places)
    try:
        # one after another: a ping into nowhere holds the device OS of four devices, and another look finds them busy
        for verb in verbs:
            ((code, said),) = made.verbs((verb,))
            must, may = declared(told, verb)
            seen = roots(said)
            assert must <= seen <= may, f"{verb} shows {seen}, must show {must}, may show {may}"
            assert code == (1 if any(outcome == "fail" for _, _, outcome in seen) else 3 if seen else 0)
    finally:
        made.lab.heal()


def test_quiet_after_apply(shape: tuple[str, Stage]) -> None:
    _, made = shape
    for code, said in made.verbs(("check",), ("mesh",)):
        assert (code, roots(said)) == (0, set())


def test_a_link_that_is_down_is_named_exactly(shape: tuple[str, Stage]) -> None:
    name, made = shape
    broken(made, "link_down", BROKEN[name])


@pytest.mark.parametrize("shape", ["a1 direct"], indirect=True)
@pytest.mark.parametrize("kind", ["one_way", "packet_loss"])
def test_a_bad_fibre_is_the_pairs_fault(shape: tuple[str, Stage], kind: str) -> None:
    broken(shape[1], kind, "server1/2", verbs=("check", "mesh") if kind == "one_way" else ("mesh",))


@pytest.mark.parametrize("shape", ["a1 direct"], indirect=True)
def test_a_server_without_power_darkens_the_other_ends_of_its_fibres(shape: tuple[str, Stage]) -> None:
    broken(shape[1], "power_off", "server2")
    ((code, said),) = shape[1].verbs(("check",))
    assert (code, roots(said)) == (0, set())
