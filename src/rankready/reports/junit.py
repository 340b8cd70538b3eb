"""A record as JUnit XML, for CI: one test case a verdict."""

from __future__ import annotations

from html import escape as xml_escape
from typing import TYPE_CHECKING

from rankready.kind.report import Report
from rankready.model.finding import Outcome
from rankready.model.text import Lang
from rankready.reports._escape import escape, say

if TYPE_CHECKING:
    from rankready.model.change import Problem
    from rankready.model.finding import Finding, Verdict
    from rankready.model.place import Place
    from rankready.model.record import Record, Step


def draw(record: Record, lang: Lang, width: int) -> str:
    """Write one suite: FAIL is a failure, UNKNOWN an error, SKIP and IMPLIED are skipped, WARN passes with words."""
    del width
    cases = [_verdict_case(v, lang) for v in record.verdicts]
    cases += [_step_case(s) for s in record.steps]
    if record.plan is not None:
        cases += [_problem_case(p, lang) for p in record.plan.problems]
        cases += [_case("plan", str(place), _body("error", reason.en)) for place, reason in record.plan.unread]
    counts = {kind: sum(f"    <{kind}" in c for c in cases) for kind in ("failure", "error", "skipped")}
    attributes = _attributes(
        name=f"rankready {record.verb} {record.cluster}",
        tests=len(cases),
        failures=counts["failure"],
        errors=counts["error"],
        skipped=counts["skipped"],
        time=f"{record.seconds:.3f}",
        timestamp=record.started,
    )
    properties = _properties(record)
    body = "".join(cases)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite{attributes}>\n{properties}{body}</testsuite>\n'


def _properties(record: Record) -> str:
    said = {"simulated": str(record.simulated).lower(), "exit": record.exit, "complete": str(record.exit != 3).lower()}  # noqa: PLR2004  (exit 3: incomplete)
    rows = "".join(f"    <property{_attributes(name=k, value=v)}/>\n" for k, v in said.items())
    return f"  <properties>\n{rows}  </properties>\n"


def _verdict_case(verdict: Verdict, lang: Lang) -> str:
    why = say(verdict.why, lang)
    told = "\n".join((*(_told(f, lang) for f in verdict.findings), why)).strip("\n")
    match verdict.outcome:
        case Outcome.FAIL:
            inner = _body("failure", _headline(verdict, lang), told)
        case Outcome.UNKNOWN:
            inner = _body("error", _headline(verdict, lang), told)
        case Outcome.SKIP | Outcome.IMPLIED:
            inner = f"    <skipped{_attributes(message=why or verdict.outcome.value)}/>\n"
        case Outcome.PASS | Outcome.WARN:
            inner = f"    <system-out>{_text(told)}</system-out>\n" if told else ""
    return _case(verdict.code, str(verdict.place), inner)


def _headline(verdict: Verdict, lang: Lang) -> str:
    if verdict.findings and verdict.outcome is not Outcome.UNKNOWN:
        return verdict.findings[0].message.to(lang)
    return say(verdict.why, lang)


def _told(finding: Finding, lang: Lang) -> str:
    lines = [f"{finding.place}: {finding.message.to(lang)}", say(finding.remedy, lang)]
    for evidence in finding.evidence:
        lines += [f"$ {evidence.command}", evidence.excerpt]
    return "\n".join(lines)


def _step_case(step: Step) -> str:
    if step.exit == 0:
        return _case("step", step.verb, "", seconds=step.seconds)
    kind = "error" if step.exit == 3 else "failure"  # noqa: PLR2004  (exit 3: incomplete)
    return _case("step", step.verb, _body(kind, f"exit {step.exit}", step.note), seconds=step.seconds)


def _problem_case(problem: Problem, lang: Lang) -> str:
    message = problem.zh if lang is Lang.ZH and problem.zh else problem.message
    return _case(f"plan.{problem.rule}", _where(problem.places), _body("failure", message))


def _where(places: tuple[Place, ...]) -> str:
    return ", ".join(map(str, places)) or "plan"


def _case(group: str, name: str, inner: str, *, seconds: float | None = None) -> str:
    timed = {} if seconds is None else {"time": f"{seconds:.3f}"}
    attributes = _attributes(classname=f"rankready.{group}", name=name, **timed)
    return f"  <testcase{attributes}>\n{inner}  </testcase>\n" if inner else f"  <testcase{attributes}/>\n"


def _body(kind: str, message: str, text: str = "") -> str:
    return f"    <{kind}{_attributes(message=message)}>{_text(text)}</{kind}>\n"


def _attributes(**values: object) -> str:
    return "".join(f' {k}="{xml_escape(escape(str(v)))}"' for k, v in values.items())


def _text(text: str) -> str:
    """Escape line by line: line breaks stay, every other control character is written out."""
    return "\n".join(xml_escape(escape(line)) for line in text.split("\n"))


REPORT = Report(name="junit", draw=draw)
