"""Rows of bits: which of many a thing holds for, in one number."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DENSE = 16  # one bit in so many: from here on a whole table is turned faster than its bits one by one


def numbers(row: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set, ascending."""
    text = f"{row:b}"[::-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)


def transposed(rows: Sequence[int]) -> list[int]:
    """Turn rows into columns: bit ``i`` of number ``j`` is bit ``j`` of row ``i``; as many bits as rows."""
    size = len(rows)
    if _DENSE * sum(row.bit_count() for row in rows) > size * size:
        texts = (f"{row:0{size}b}"[::-1] for row in reversed(rows))
        return [int("".join(column), 2) for column in zip(*texts, strict=True)]
    columns = [0] * size
    for i, row in enumerate(rows):
        for j in numbers(row):
            columns[j] |= 1 << i
    return columns
