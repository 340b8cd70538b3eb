"""The sections of the text page; each is a list of items, each item some lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.model.finding import Outcome
from rankready.reports import _words as words
from rankready.reports._escape import escape, say
from rankready.reports._groups import groups, places_text
from rankready.reports._next import by_hand
from rankready.reports._width import cells, clip, columns, hang

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.change import Change, Plan
    from rankready.model.place import Place
    from rankready.model.record import Record, Step
    from rankready.model.text import Lang, Text
    from rankready.reports._groups import Group

MOST_FINDINGS = 5
CHANGERS = ("apply", "firewall")  # steps whose exit 1 means pending changes when nothing may be changed
_ALONE = 6  # so few changes are shown one by one
_ASKED = re.compile(r"^\S+?(?:: |：)")
_INDENT = " " * 7
_TIMES = " ×"
_GAP = 2  # between columns
_LEAST_PLACES = 12  # a narrower list of places tells nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Items of one kind; ``left`` counts those that were dropped to fit the screen.

    A history (``newest_last``) loses its oldest items first.
    """

    items: tuple[tuple[str, ...], ...]
    left: int = 0
    newest_last: bool = False

    @property
    def lines(self) -> int:
        """How many lines it takes."""
        return sum(len(i) for i in self.items) + (self.left > 0)

    def shorter(self) -> Section:
        """Return it without its last item, or its oldest."""
        items = self.items[1:] if self.newest_last else self.items[:-1]
        return replace(self, items=items, left=self.left + 1)


def findings(record: Record, lang: Lang, width: int) -> tuple[Section, Section]:
    """Return faults and warnings, then what is not known; at most five and three of them."""
    found = groups(record, lang)
    known = [g for g in found if g.outcome is not Outcome.UNKNOWN]
    unknown = [g for g in found if g.outcome is Outcome.UNKNOWN]
    return _capped([_finding(g, lang, width) for g in known], MOST_FINDINGS), _capped(
        [_finding(g, lang, width) for g in unknown], 3
    )


def _finding(group: Group, lang: Lang, width: int) -> tuple[str, ...]:
    mark = words.MARKS[group.outcome].to(lang)
    count = len(dict.fromkeys(group.places))
    many = f" ({words.PLACES.to(lang).format(n=f'{count:,}')})" if count > 1 else ""
    code = escape(group.codes[0] if len(group.codes) == 1 else f"{group.codes[0]} +{len(group.codes) - 1}")
    colon = ": " if group.message else ""
    alike = words.ALIKE.to(lang) if group.varied else ""
    statement = f"{code} {places_text(group.places)}{many}{colon}{group.message}{alike}"
    lines = hang(f" {mark}  ", statement, width)
    if group.remedy:
        lines += hang(_INDENT + words.NEXT.to(lang), group.remedy, width, 3)
    return tuple(lines)


def problems(plan: Plan, lang: Lang, width: int) -> Section:
    """Return what forbids a plan."""
    mark = words.MARKS[Outcome.FAIL].to(lang)
    items = []
    for problem in plan.problems:
        message = say((problem.zh if lang == "zh" else "") or problem.message, lang)
        where = places_text(problem.places)
        items.append(tuple(hang(f" {mark}  ", f"{escape(problem.rule)} {where}: {message}", width, 3)))
    return _capped(items, MOST_FINDINGS)


def changes(plan: Plan, lang: Lang, width: int) -> Section:
    """Return the diff: few changes one by one, many grouped by what they set."""
    grouped: dict[tuple[object, ...], list[Change]] = {}
    alone = len(plan.changes) <= _ALONE
    for change in plan.changes:
        key = (change.place, change.what) if alone else (change.what, _sign(change))
        grouped.setdefault(key, []).append(change)
    rows = _narrowed([_change_row(group, lang) for group in grouped.values()], width)
    return _capped([(line,) for line in columns(rows, width)], 8)


def _narrowed(rows: list[tuple[str, ...]], width: int) -> list[tuple[str, ...]]:
    """Cut lists of places that would push what changes off the line: they end before its middle and keep their count.

    One place alone is never cut: which it is says more than what it gets.
    """
    first = max((cells(row[0]) for row in rows), default=0) + _GAP
    told = max((cells("  ".join(row[2:]).rstrip()) for row in rows), default=0) + _GAP
    room = max(width - first - told, width * 2 // 5 - first, _LEAST_PLACES)
    return [(row[0], _cut(row[1], room), *row[2:]) for row in rows]


def _cut(where: str, room: int) -> str:
    places, times, count = where.rpartition(_TIMES)
    return clip(places, room - cells(times + count)) + times + count if times else where


def _sign(change: Change) -> str:
    if change.before is None:
        return "?"
    return "~" if change.before else "+"


def _change_row(group: list[Change], lang: Lang) -> tuple[str, ...]:
    first = group[0]
    before = _span([_before(c, lang) for c in group])
    after = _span([escape(c.after) for c in group])
    count = f"{_TIMES}{len(group):,}" if len(group) > 1 else ""
    reasons = {c.reason for c in group}
    reason = escape(first.why.to(lang)) if len(reasons) == 1 and first.reason else ""
    where = places_text((c.place for c in group), 2) + count
    if before == after:  # the device carries it already; what is missing is its entry in the file
        return (f" {_sign(first)} {first.what.value}", where, after, reason)
    return (f" {_sign(first)} {first.what.value}", where, f"{before} → {after}", reason)


def _before(change: Change, lang: Lang) -> str:
    if change.before is None:
        return words.NOT_KNOWN.to(lang)
    return escape(change.before) or words.UNSET.to(lang)


def _span(values: list[str]) -> str:
    unique = list(dict.fromkeys(values))
    return unique[0] if len(unique) == 1 else f"{unique[0]} … {unique[-1]}"


def unread(plan: Plan, logins: Mapping[str, str], lang: Lang, width: int) -> Section:
    """Return what could not be read, by reason, and how to log in where nobody answered."""
    mark = words.MARKS[Outcome.UNKNOWN].to(lang)
    by_reason: dict[str, list[Place]] = {}
    for place, told in plan.unread:
        reason = told.to(lang)
        why = _ASKED.sub("", reason)  # "address: server2 (...): no answer": what was asked is of no account
        by_reason.setdefault(why if place.name in why else reason, []).append(place)
    items = []
    for reason, places in by_reason.items():
        lines = hang(f" {mark}  ", f"{places_text(places)}: {escape(reason)}", width)
        silent = [p.name for p in places if p.name in logins and p.name in reason]
        if silent:
            told = by_hand(silent, logins)
            lines += hang(_INDENT + words.NEXT.to(lang), say(told, lang), width, 3)
        items.append(tuple(lines))
    return _capped(items, 3)


def steps(record: Record, lang: Lang, width: int) -> Section:
    """Return the steps of a guide as a table."""
    rows = [_step_row(s, lang, step_mark(record, s)) for s in record.steps]
    return Section(items=tuple((line,) for line in columns(rows, width)), newest_last=True)


def step_mark(record: Record, step: Step) -> Text:
    """Say in a word how a step went; in a dry run pending changes are what was asked for, no failure."""
    if record.extra.get("dry_run") and step.exit == 1 and step.verb in CHANGERS:
        return words.PENDING
    return words.STEP_MARKS.get(step.exit, words.FAILED)


def _step_row(step: Step, lang: Lang, mark: Text) -> tuple[str, ...]:
    return (f" {mark.to(lang)}", escape(step.verb), words.duration(step.seconds, lang), escape(step.note))


def one_line(text: str, width: int) -> Section:
    """Return a section of one clipped line."""
    return Section(items=((clip(text, width),),))


def _capped(items: list[tuple[str, ...]], most: int) -> Section:
    return Section(items=tuple(items[:most]), left=max(0, len(items) - most))
