"""A record as one self-contained page: no network, readable without script."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from rankready.kind.report import Report
from rankready.model.finding import Outcome
from rankready.model.hostlist import fold
from rankready.model.place import PlaceKind
from rankready.model.plain import plain
from rankready.model.text import Lang, Text
from rankready.reports import _cabling as cables
from rankready.reports import _extra as parts
from rankready.reports import _why as why
from rankready.reports import _words as words
from rankready.reports._escape import escape
from rankready.reports._groups import groups, places_text
from rankready.reports._lanes import drawing
from rankready.reports._page import PAGE, STYLE
from rankready.reports._sections import step_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from jinja2 import Template

    from rankready.model.change import Change
    from rankready.model.finding import Evidence, Verdict
    from rankready.model.plain import Json
    from rankready.model.record import Record, Step
    from rankready.reports._groups import Group
    from rankready.reports._sections import Section

MOST_CHANGES = 2000  # a browser's patience
MOST_SERVERS = 1500
MOST_RANKS = 2000
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")
_WIDE = 200
_EVIDENCE = 5
_WORST = (Outcome.FAIL, Outcome.UNKNOWN, Outcome.WARN, Outcome.IMPLIED, Outcome.SKIP, Outcome.PASS)
_SIGNS = {
    Outcome.FAIL: "F",
    Outcome.UNKNOWN: "?",
    Outcome.WARN: "!",
    Outcome.IMPLIED: ">",
    Outcome.SKIP: "-",
    Outcome.PASS: "·",
}
_NAMES = {
    Outcome.FAIL: Text(en="fault", zh="故障"),
    Outcome.UNKNOWN: Text(en="unknown", zh="未知"),
    Outcome.WARN: Text(en="warning", zh="警告"),
    Outcome.IMPLIED: Text(en="follows", zh="由此引起"),
    Outcome.SKIP: Text(en="skipped", zh="跳过"),
    Outcome.PASS: Text(en="as planned", zh="正常"),
}


def draw(record: Record, lang: Lang, width: int) -> str:
    """Write the page; it opens in ``lang`` and holds both languages. Every word of it is escaped."""
    del width
    return _template().render(style=Markup(STYLE), lang=lang.value, **_clean(_context(record))) + "\n"  # noqa: S704  (our own constant)


@cache
def _template() -> Template:
    return Environment(autoescape=True, undefined=StrictUndefined).from_string(PAGE)


def _context(record: Record) -> dict[str, Any]:
    found = plain(record.extra)
    extra: dict[str, Json] = found if isinstance(found, dict) else {}
    plan = record.plan
    changes = plan.changes if plan is not None else ()
    return {
        "verb": record.verb,
        "cluster": record.cluster,
        "started": _moment(record.started),
        "exit": record.exit,
        "simulated": record.simulated,
        "words": {"simulated": words.SIMULATED},
        "state": _both(lambda lang: words.state(record, lang)),
        "sizes": _both(lambda lang: words.sizes(record, lang)),
        "duration": _both(lambda lang: words.duration(record.seconds, lang)),
        "counts": _both(lambda lang: words.counts(record, lang)),
        "coverage": _both(lambda lang: _plain_lines(parts.coverage(extra, lang, _WIDE))),
        "next": _both(lambda lang: words.either(extra.get("next"), lang)),
        "cause": _both(lambda lang: _cause(record, extra, lang)),
        "job": _both(lambda lang: _plain_lines(parts.ranks(extra, lang, _WIDE))),
        **_ranks(extra),
        "lanes": drawing(extra),
        "remarks": _both(lambda lang: _plain_lines(parts.trouble(extra, lang, _WIDE), parts.notes(extra, lang, _WIDE))),
        "findings": _findings(record),
        "problems": [
            {"rule": p.rule, "where": places_text(p.places), "message": Text(p.message, p.zh or p.message)}
            for p in (plan.problems if plan is not None else ())
        ],
        "suspects": parts.suspect_rows(extra),
        **cables.table(record, extra),
        "steps": [_step(record, s) for s in record.steps],
        "changes": [_change(c) for c in changes[:MOST_CHANGES]],
        "changes_left": max(0, len(changes) - MOST_CHANGES),
        "outcomes": [{"key": o.value, "name": _NAMES[o]} for o in _WORST],
        **_tables(record.verdicts),
    }


def _both(told: Callable[[Lang], str]) -> Text:
    return Text(en=told(Lang.EN), zh=told(Lang.ZH))


def _plain_lines(*sections: Section) -> str:
    return "\n".join(line.removeprefix(" ") for s in sections for item in s.items for line in item)


def _cause(record: Record, extra: dict[str, Json], lang: Lang) -> str:
    """Return the first fault; `why` tells it with the ranks in time and who only waited."""
    told = why.sections(extra, lang, _WIDE) if record.verb == "why" else (parts.cause(extra, lang, _WIDE),)
    return _plain_lines(*told)


def _ranks(extra: dict[str, Json]) -> dict[str, Any]:
    """Return how each rank ended, as rows; those that ended badly come first."""
    found = parts.rank_rows(extra)
    bad = [r for r in found if r["outcome"] == Outcome.FAIL.value]
    rows = [*bad, *(r for r in found if r["outcome"] != Outcome.FAIL.value)]
    return {"ranks": rows[:MOST_RANKS], "ranks_left": max(0, len(rows) - MOST_RANKS), "ranks_bad": bool(bad)}


def _moment(started: str) -> str:
    """Write ``2026-11-30T17:55:00.123+00:00`` as people do; any other text stays as it is."""
    found = _ISO.fullmatch(started)
    return f"{found[1]} {found[2]} UTC" if found else started


def _findings(record: Record) -> list[dict[str, Any]]:
    evidence: dict[str, list[Evidence]] = {}
    for verdict in record.verdicts:
        for finding in verdict.findings:
            evidence.setdefault(finding.code, []).extend(finding.evidence)
    pairs = zip(groups(record, Lang.EN), groups(record, Lang.ZH), strict=True)
    return [_finding(en, zh, evidence.get(en.codes[0], []) if en.remedy else []) for en, zh in pairs]


def _finding(en: Group, zh: Group, evidence: list[Evidence]) -> dict[str, Any]:
    unique = tuple(dict.fromkeys(en.places))
    return {
        "outcome": en.outcome.value,
        "mark": words.MARKS[en.outcome],
        "codes": ", ".join(en.codes),
        "where": places_text(en.places),
        "count": len(unique),
        "places": ", ".join(fold(escape(str(p)) for p in unique)) if len(unique) > 1 else "",
        "message": Text(en=en.message, zh=zh.message),
        "varied": en.varied,
        "remedy": Text(en=en.remedy, zh=zh.remedy),
        "evidence": [
            {"command": e.command, "at": e.at, "lines": e.excerpt.splitlines()}
            for e in tuple(dict.fromkeys(evidence))[:_EVIDENCE]
        ],
    }


def _step(record: Record, step: Step) -> dict[str, Any]:
    kinds = {0: Outcome.PASS, 3: Outcome.UNKNOWN}
    mark = step_mark(record, step)
    return {
        "mark": mark,
        "outcome": (Outcome.WARN if mark is words.PENDING else kinds.get(step.exit, Outcome.FAIL)).value,
        "verb": step.verb,
        "duration": _both(lambda lang: words.duration(step.seconds, lang)),
        "note": step.note,
    }


def _change(change: Change) -> dict[str, Any]:
    before = Text(change.before, change.before) if change.before else words.UNSET
    return {
        "sign": "?" if change.before is None else "~" if change.before else "+",
        "place": str(change.place),
        "what": change.what.value,
        "before": words.NOT_KNOWN if change.before is None else before,
        "after": change.after,
        "reason": change.why,
    }


def _tables(verdicts: tuple[Verdict, ...]) -> dict[str, Any]:
    codes = tuple(dict.fromkeys(v.code for v in verdicts))
    counted = Counter((v.code, v.outcome) for v in verdicts)
    tally = [{"code": c, **{o.value: counted[c, o] or "" for o in _WORST}} for c in codes]
    return {"tally": tally, "codes": codes, "grid": _grid(verdicts, codes)}


def _grid(verdicts: Iterable[Verdict], codes: tuple[str, ...]) -> list[dict[str, Any]]:
    worst: dict[str, dict[str, Outcome]] = {}
    for verdict in verdicts:
        if verdict.place.kind in (PlaceKind.SERVER, PlaceKind.DEVICE):
            row = worst.setdefault(verdict.place.name, {})
            row[verdict.code] = min(row.get(verdict.code, verdict.outcome), verdict.outcome, key=_WORST.index)
    rows = list(worst.items())[:MOST_SERVERS]
    return [{"name": name, "cells": [_cell(row.get(code)) for code in codes]} for name, row in rows]


def _cell(outcome: Outcome | None) -> dict[str, str]:
    return {"outcome": "", "sign": ""} if outcome is None else {"outcome": outcome.value, "sign": _SIGNS[outcome]}


def _clean(value: Any) -> Any:  # noqa: ANN401  (whatever the page shows)
    """Write out control characters everywhere; line breaks of our own texts stay."""
    match value:
        case str():
            return "\n".join(escape(line) for line in value.split("\n"))
        case Text():
            return {"en": _clean(value.en), "zh": _clean(value.zh)}
        case dict():
            return {key: _clean(item) for key, item in value.items()}
        case list() | tuple():
            return [_clean(item) for item in value]
    return value


REPORT = Report(name="html", draw=draw)
