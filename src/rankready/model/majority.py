"""What most places hold, and which places hold something else."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.place import Place

T = TypeVar("T")


def majority(values: Mapping[Place, T]) -> T | None:
    """Return the value that more places hold than any other; None on a tie or without values."""
    ranked = Counter(values.values()).most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def outliers(values: Mapping[Place, T]) -> tuple[Place, ...]:
    """Return the places that differ from the majority, all of them on a tie, in the order given."""
    most = majority(values)
    return tuple(place for place, value in values.items() if value != most)


def mixed(values: Mapping[Place, T]) -> Iterator[tuple[Place, T, tuple[T, ...]]]:
    """Yield each outlier with its own value and what others hold: the majority's, or on a tie every other value.

    Other values come in the order in which they are first met.
    """
    most = majority(values)
    for place in outliers(values):
        own = values[place]
        yield place, own, (most,) if most is not None else tuple(v for v in dict.fromkeys(values.values()) if v != own)
