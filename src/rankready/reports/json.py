"""A record as one JSON object: what scripts rely on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rankready.kind.report import Report
from rankready.model.finding import Outcome
from rankready.model.plain import plain

if TYPE_CHECKING:
    from rankready.model.change import Plan
    from rankready.model.finding import Finding, Verdict
    from rankready.model.plain import Json
    from rankready.model.record import Record
    from rankready.model.text import Lang

VERSION = 1
_DELETE = 0x7F  # json.dumps takes it for harmless


def draw(record: Record, lang: Lang, width: int) -> str:
    """Write the object; the same in every language and width, ending in a newline."""
    del lang, width
    text = json.dumps(as_object(record), ensure_ascii=False, indent=2)
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n")) + "\n"


def as_object(record: Record) -> dict[str, Json]:
    """Return the object: what every verb has, the parts of a plan, then the verb's own parts.

    ``findings`` are those that stand for themselves; what only follows from one of them is under ``implied``.
    """
    out: dict[str, Json] = {
        "version": VERSION,
        "verb": record.verb,
        "exit": record.exit,
        "cluster": record.cluster,
        "simulated": record.simulated,
        "started": record.started,
        "seconds": record.seconds,
        "servers": record.servers,
        "devices": record.devices,
        "verdicts": [_verdict(v) for v in record.verdicts],
        "findings": [_finding(f) for v in record.verdicts if v.outcome is not Outcome.IMPLIED for f in v.findings],
        "implied": [_finding(f) for v in record.verdicts if v.outcome is Outcome.IMPLIED for f in v.findings],
    }
    if record.plan is not None:
        out |= _plan(record.plan)
    if record.steps:
        out["steps"] = plain(record.steps)
    for key, value in record.extra.items():
        if key not in out or not out[key]:
            out[key] = plain(value)
    return out


def _verdict(verdict: Verdict) -> Json:
    out: dict[str, Json] = {
        "code": verdict.code,
        "place": str(verdict.place),
        "outcome": verdict.outcome.value,
    }
    return out | ({"reason": verdict.reason} if verdict.reason else {})


def _finding(finding: Finding) -> Json:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "place": str(finding.place),
        "message": plain(finding.message),
        "remedy": plain(finding.remedy),
        "evidence": plain(finding.evidence),
    } | ({"blames": plain(finding.blames)} if finding.blames else {})


def _plan(plan: Plan) -> dict[str, Json]:
    return {
        "changes": plain(plan.changes),
        "problems": plain(plan.problems),
        "unread": [{"place": str(place), "reason": why.en, "reason_zh": why.zh} for place, why in plan.unread],
    }


def _escaped(line: str) -> str:
    """Only strings hold such characters, and there JSON's own escape means the same."""
    return "".join(c if c.isprintable() else _code(c) for c in line)


def _code(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) != _DELETE else "\\u007f"


REPORT = Report(name="json", draw=draw)
