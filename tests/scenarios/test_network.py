"""The ten kinds of network faults, end to end through real pings, on 2, 4 and 16 servers: exactly the right places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lab_stage import roots, stage
from network_table import kinds, together, tried, written

from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab_stage import Stage
    from network_table import Kind

pytestmark = [pytest.mark.namespaces, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("network") / "lab", servers=2, split_ports=True, leaves=2) as made:
        yield made


def wrong(made: Stage, *chosen: Kind) -> list[str]:
    try:
        return [written(row) for row in tried(made, *chosen) if not row.right]
    except LabError as refused:
        pytest.skip(str(refused))


@pytest.mark.parametrize("kind", kinds(2), ids=lambda k: k.name)
def test_a_kind_is_named_exactly(lab: Stage, kind: Kind) -> None:
    assert wrong(lab, kind) == []


def test_all_of_them_mended_it_is_quiet(lab: Stage) -> None:
    for code, said in lab.verbs(("check",), ("cabling",)) + lab.verbs(("mesh",)):
        assert (code, roots(said)) == (0, set())


@pytest.mark.parametrize("servers", [4, 16])
def test_many_kinds_at_once_are_told_apart(servers: int, tmp_path: Path) -> None:
    with stage(tmp_path / "lab", servers=servers, split_ports=True, leaves=2) as made:
        assert wrong(made, *together(servers)) == []
