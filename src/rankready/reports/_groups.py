"""Many alike as one: findings of one code and shape, places that share a reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.model.finding import Certainty, Outcome, Severity
from rankready.model.hostlist import fold
from rankready.model.place import PlaceKind
from rankready.reports._escape import escape, say
from rankready.reports._next import settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankready.model.place import Place
    from rankready.model.record import Record
    from rankready.model.text import Lang

Key = tuple[Outcome, str, str]

_VALUE = re.compile(r"\S*[0-9]\S*")
_AT_PLACE = re.compile(r"\S+: (.*?)(?: \(and \d+ more\))?")
_SILENT = "HST001"
_RANK = (Outcome.FAIL, Outcome.UNKNOWN, Outcome.WARN)
_SURE = (Certainty.SURE, Certainty.LIKELY, Certainty.MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Findings, or verdicts without one, that say the same of several places; ``varied``: with other values."""

    outcome: Outcome
    codes: tuple[str, ...]
    places: tuple[Place, ...]
    message: str
    remedy: str = ""
    certainty: Certainty = Certainty.SURE
    varied: bool = False


def shape(text: str) -> str:
    """Return what stays of a statement when its values are taken out."""
    return _VALUE.sub("#", text)


def groups(record: Record, lang: Lang) -> tuple[Group, ...]:
    """Return what stands for itself (not implied, not passed), worst first, alike folded; check order within."""
    first: dict[Key, Group] = {}
    codes: dict[Key, list[str]] = {}
    places: dict[Key, list[Place]] = {}
    varied: set[Key] = set()
    for key, group in _each(record, lang):
        first.setdefault(key, group)
        codes.setdefault(key, []).extend(group.codes)
        places.setdefault(key, []).extend(group.places)
        if group.message != first[key].message:
            varied.add(key)
    found = [
        replace(g, codes=_root_first(codes[k]), places=tuple(places[k]), varied=k in varied) for k, g in first.items()
    ]
    reasons = {g.message for g in found if g.outcome is Outcome.UNKNOWN}
    kept = (_advised(g, record, lang) for g in found if not _repeats(g, reasons))
    return tuple(sorted(kept, key=lambda g: (_RANK.index(g.outcome), _SURE.index(g.certainty))))


def _root_first(codes: Iterable[str]) -> tuple[str, ...]:
    """A server that does not answer is why its other checks are unknown."""
    return tuple(sorted(dict.fromkeys(codes), key=lambda c: c != _SILENT))


def _advised(group: Group, record: Record, lang: Lang) -> Group:
    """What is not known has a next step too."""
    if group.outcome is not Outcome.UNKNOWN or group.remedy:
        return group
    logins = record.extra.get("logins")
    told = settle(group.codes, group.places, group.message, logins if isinstance(logins, dict) else {})
    return replace(group, remedy=say(told, lang))


def _repeats(group: Group, reasons: set[str]) -> bool:
    """Tell whether a cluster-wide rule is unknown for a reason that is told already.

    As ``PLACE: REASON (and N more)``, or within words of its own.
    """
    if group.outcome is not Outcome.UNKNOWN or any(p.kind is not PlaceKind.CLUSTER for p in group.places):
        return False
    told = _AT_PLACE.fullmatch(group.message)
    if told is not None and told[1] in reasons:
        return True
    return any(reason and reason != group.message and reason in group.message for reason in reasons)


def _each(record: Record, lang: Lang) -> Iterator[tuple[Key, Group]]:
    for verdict in record.verdicts:
        outcome = verdict.outcome
        if outcome not in _RANK:
            continue
        unknown = outcome is Outcome.UNKNOWN
        for finding in verdict.findings:
            if unknown and finding.severity is not Severity.WARNING:
                continue
            shown = Outcome.WARN if unknown else outcome
            yield (
                (shown, finding.code, shape(finding.message.en)),
                Group(
                    outcome=shown,
                    codes=(finding.code,),
                    places=(finding.place,),
                    message=say(finding.message, lang),
                    remedy=say(finding.remedy, lang),
                    certainty=finding.certainty,
                ),
            )
        if unknown or not verdict.findings:
            reason = say(verdict.why, lang)
            group = Group(outcome=outcome, codes=(verdict.code,), places=(verdict.place,), message=reason)
            yield (outcome, "", shape(verdict.reason)), group


def places_text(places: Iterable[Place], most: int = 3) -> str:
    """Write places as ranges; devices of a server that is named itself are left out; the rest is counted."""
    unique = tuple(dict.fromkeys(places))
    named = set(unique)
    kept = [p for p in unique if p.owner == p or p.owner not in named]
    folded = fold(escape(str(p)) for p in kept)
    more = f", +{len(folded) - most}" if len(folded) > most else ""
    return ", ".join(folded[:most]) + more
