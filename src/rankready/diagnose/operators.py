"""All ranks wait: compare in which operator each of them waits (facts/logs 9.5, step 5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event

MOST = 0.5  # a minority is at most this share


def operators(case: Case) -> Blame | None:
    """Name the minority whose operator, number, size or type differs from the rest of its communicator."""
    places = _by_rank(case, "wait_operator")
    tags = {r: e.fields["tag"].partition("_")[0] for r, e in _tagged(case).items()}
    for group in _communicators(case, {*places, *tags}):
        for read in (tags, _field(places, "index"), _field(places, "count"), _field(places, "data")):
            odd = _minority({r: v for r, v in read.items() if r in group})
            if odd:
                return _blame(case, odd, group, (places, tags))
    return None


def _by_rank(case: Case, kind: str) -> dict[int, Event]:
    found: dict[int, Event] = {}
    for event in case.of(kind):
        if event.rank is not None:
            found.setdefault(event.rank, event)
    return found


def _tagged(case: Case) -> dict[int, Event]:
    found: dict[int, Event] = {}
    for event in case.of("notify_wait"):
        if event.rank is not None and event.fields.get("tag"):
            found.setdefault(event.rank, event)
    return found


def _communicators(case: Case, ranks: set[int]) -> tuple[frozenset[int], ...]:
    """Sort ranks by the communicator in which each of them waits."""
    named = {r: e.fields.get("group", "") for r, e in _by_rank(case, "wait_group").items()}
    groups: dict[str, set[int]] = {}
    for rank in sorted(ranks):
        groups.setdefault(named.get(rank, ""), set()).add(rank)
    return tuple(frozenset(g) for g in sorted(groups.values(), key=len, reverse=True))


def _field(events: Mapping[int, Event], name: str) -> dict[int, str]:
    return {r: e.fields[name] for r, e in events.items() if e.fields.get(name)}


def _minority(values: Mapping[int, str]) -> tuple[int, ...]:
    counted = Counter(values.values())
    if len(counted) < 2:  # noqa: PLR2004  (nobody differs)
        return ()
    usual, most = counted.most_common(1)[0]
    odd = tuple(r for r, v in sorted(values.items()) if v != usual)
    return odd if len(odd) < len(values) * MOST and most > len(odd) else ()


def _blame(
    case: Case, odd: tuple[int, ...], group: frozenset[int], told: tuple[Mapping[int, Event], Mapping[int, str]]
) -> Blame:
    places, tags = told
    other = min(r for r in group if r not in odd)
    same_call = tags.get(odd[0]) == tags.get(other) and _told(places, tags, odd[0], "index") == _told(
        places, tags, other, "index"
    )
    item = next(
        (f for f in ("count", "data") if _told(places, tags, odd[0], f) != _told(places, tags, other, f)), "count"
    )
    own, rest = (
        ((places[r].fields.get(item, "?") if r in places else "?") for r in (odd[0], other))
        if same_call
        else (_shown(places, tags, odd[0]), _shown(places, tags, other))
    )
    lines = [e.line for e in (_tagged(case).get(odd[0]), places.get(odd[0]), places.get(other)) if e is not None]
    return Blame(
        kind="arguments_differ" if same_call else "operator_differs",
        hosts=case.hosts_of(odd),
        ranks=odd,
        at=min(case.issued.values(), default=case.stall),
        certainty=Certainty.LIKELY,
        lines=tuple(lines),
        codes=("EI0002",),
        fields={"own": own, "other": rest, "item": item},
        witnesses=len(group),
    )


def _told(places: Mapping[int, Event], tags: Mapping[int, str], rank: int, name: str) -> str:
    event = places.get(rank)
    return event.fields.get(name, "") if event else tags.get(rank, "")


def _shown(places: Mapping[int, Event], tags: Mapping[int, str], rank: int) -> str:
    number = places[rank].fields.get("index") if rank in places else None
    return f"{tags.get(rank, '?')}{f' no. {number}' if number else ''}"
