"""A damaged answer becomes a Gap or stays the same fact, never another one, and never an exception."""

from __future__ import annotations

import pytest
from tool_fixtures import read, recorded
from tool_mutations import mutations, weaker

from rankready.model.snapshot import Gap, GapKind


@pytest.mark.parametrize("name", recorded())
def test_damage_never_makes_another_fact(name: str) -> None:
    item = recorded()[name]
    fact = read(item)
    unset = isinstance(fact, Gap) and fact.kind is GapKind.UNSET
    for damage, reply in mutations(item):
        found = read(item, reply)
        if isinstance(found, Gap):
            silent = not reply.both.strip()
            assert found.kind is not GapKind.UNSET or unset or silent, f"{damage}: {found}"
            assert found.reason.isprintable(), damage
        else:
            assert found == fact or weaker(fact, found, reply), f"{damage}: {found}"


def test_the_damages_are_many() -> None:
    cases = sum(1 for item in recorded().values() for _ in mutations(item))
    print(f"{cases} damaged answers")  # noqa: T201  (the number is the point of this test)
    assert cases > 90_000
