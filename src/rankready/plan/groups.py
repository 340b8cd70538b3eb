"""A plan folded for people: equal changes of many devices as one row."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_interface
from typing import TYPE_CHECKING

from rankready.model.change import What

if TYPE_CHECKING:
    from rankready.model.change import Change, Plan
    from rankready.model.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Changes of one kind, with one reason, into one segment. ``befores`` and ``afters`` are in the order of places.

    ``befores`` and ``afters`` hold one value when all are equal, else one for each place.
    """

    what: What
    reason: str
    places: tuple[Place, ...]
    befores: tuple[str, ...]
    afters: tuple[str, ...]


def group(plan: Plan) -> tuple[Row, ...]:
    """Fold the changes of a plan into rows, in the order in which each kind first appears."""
    rows: dict[tuple[str, ...], list[Change]] = {}
    for change in plan.changes:
        segment = str(ip_interface(change.after).network) if change.what is What.ADDRESS else ""
        rows.setdefault((change.what, change.reason, "set" if change.before else "", segment), []).append(change)
    return tuple(
        Row(
            what=alike[0].what,
            reason=alike[0].reason,
            places=tuple(c.place for c in alike),
            befores=_folded(tuple(c.before or "" for c in alike)),
            afters=_folded(tuple(c.after for c in alike)),
        )
        for alike in rows.values()
    )


def span(values: tuple[str, ...]) -> str:
    """Return one value, or the lowest and highest of several addresses."""
    if len(values) == 1:
        return values[0]
    order = sorted((v for v in values if v), key=_number)
    return "" if not order else f"{order[0]} … {order[-1]}"


def _folded(values: tuple[str, ...]) -> tuple[str, ...]:
    return values[:1] if len(set(values)) == 1 else values


def _number(value: str) -> int:
    return int(ip_address(value.partition("/")[0]))
