"""Ranges in names and numbers: ``node[001-128].example``, ``0-7``."""

from __future__ import annotations

import re
from itertools import product
from math import prod

from rankready.model.hostlist import fold, number_text

__all__ = ["MOST_SERVERS", "expand", "fold", "numbers"]

MOST_SERVERS = 4096
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_ITEM = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


def expand(text: str) -> tuple[str, ...]:
    """Write out every name of ``rack[1-2]node[01-16]``, the last range running fastest.

    Only brackets make a range: ``node-1-4`` is one name. Zero padding of a range's first number is kept. Raises
    ValueError with what is wrong: a bracket left open, a reversed or overlapping range, more than 4,096 names.
    """
    parts = _BRACKETS.split(text)
    if any("[" in p or "]" in p for p in parts[::2]):
        raise ValueError("a bracket that is not closed or not opened")
    spans = [_spans(p) for p in parts[1::2]]
    count = prod(sum(int(high) - int(low) + 1 for low, high in span) for span in spans)
    if count > MOST_SERVERS:
        raise ValueError(f"{count} names, more than {MOST_SERVERS}")
    columns = [_values(span) for span in spans]
    return tuple(
        "".join(plain + number for plain, number in zip(parts[::2], (*row, ""), strict=True))
        for row in product(*columns)
    )


def numbers(text: str) -> tuple[int, ...]:
    """Read a list of small numbers such as ``0-3,6``; raises ValueError with what is wrong."""
    return tuple(int(v) for v in expand(f"[{text.replace(' ', '')}]"))


def _spans(inside: str) -> list[tuple[str, str]]:
    spans: list[tuple[str, str]] = []
    for item in inside.split(","):
        found = _ITEM.fullmatch(item.strip())
        if found is None:
            raise ValueError(f"{item.strip()!r} is no number and no range")
        low, high = found.group(1), found.group(2) or found.group(1)
        if int(low) > int(high):
            raise ValueError(f"the range {low}-{high} is reversed")
        spans.append((low, high))
    return spans


def _values(spans: list[tuple[str, str]]) -> list[str]:
    values: dict[str, None] = {}
    for low, high in spans:
        for number in range(int(low), int(high) + 1):
            value = number_text(low, number) if low != high else low
            if value in values:
                raise ValueError(f"{value} stands in two ranges")
            values[value] = None
    return list(values)
