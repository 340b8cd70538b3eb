"""From a file and its rules to findings, verdicts, and one word."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rankready import catalog
from rankready.model.finding import Certainty, Evidence, Finding, Outcome, Severity, Verdict
from rankready.model.place import cluster_place, device_place, server_place
from rankready.model.text import Text
from rankready.plan.ranktable.generation import guess
from rankready.plan.ranktable.json_text import Broken, Kind
from rankready.plan.ranktable.rule import Rule, Sheet, Stage
from rankready.plan.ranktable.table import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.kind.product import Product
    from rankready.model.cluster import Generation
    from rankready.model.place import Place
    from rankready.plan.ranktable.document import Document
    from rankready.plan.ranktable.live import Live
    from rankready.plan.ranktable.rule import Mark, Spot

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}", re.ASCII)
_SHOWN = 200
_ORDER = (Severity.NOTE, Severity.WARNING, Severity.ERROR)
_OUTCOMES: Final = {Severity.NOTE: Outcome.PASS, Severity.WARNING: Outcome.WARN, Severity.ERROR: Outcome.FAIL}
_WORDS: Final = ("ok", "warn", "invalid")
GUESSED: Final = "RTB024"


def rules() -> tuple[Rule, ...]:
    """Return all rules, in the order of their codes."""
    return tuple(sorted(catalog.offered("plan.ranktable.rules", "RULES", Rule), key=lambda r: r.code))


def sheet(
    document: Document,
    products: Mapping[Generation, Product],
    *,
    generation: Generation | None = None,
    live: Live | None = None,
    beside: tuple[Document, ...] = (),
) -> Sheet:
    """Make what is judged; without a ``generation`` the one that fits best is taken."""
    root = document.root
    table = None if isinstance(root, Broken) or root.kind is not Kind.OBJECT else build(root)
    best = generation or (guess(table, products).best if table else next(iter(products)))
    return Sheet(
        document=document,
        table=table,
        product=products[best],
        products=products,
        told=generation is not None,
        live=live,
        beside=beside,
    )


def verdicts(page: Sheet) -> tuple[Verdict, ...]:
    """Judge a file by every rule; a rule that can't judge is SKIP with the reason."""
    notes = tuple(_elsewhere(page))
    found = _each(page)
    if not notes:
        return found
    return tuple(replace(v, findings=(*v.findings, *notes)) if v.code == GUESSED else v for v in found)


def _each(page: Sheet) -> tuple[Verdict, ...]:
    return tuple(v for rule in rules() for v in _verdicts(rule, page))


def word(found: tuple[Verdict, ...]) -> str:
    """Return ``ok``, ``warn`` or ``invalid``."""
    outcomes = {v.outcome for v in found}
    if Outcome.FAIL in outcomes:
        return "invalid"
    return "warn" if Outcome.WARN in outcomes else "ok"


def _elsewhere(page: Sheet) -> Iterator[Finding]:
    """Say where a table whose generation was guessed would be judged worse: one note a generation."""
    if page.told or page.table is None:
        return
    mine = _WORDS.index(word(_each(page)))
    for generation in guess(page.table, page.products).others:
        other = _each(replace(page, product=page.products[generation]))
        if _WORDS.index(word(other)) > mine:
            yield _would_be(page, generation, other)


def _would_be(page: Sheet, generation: Generation, other: tuple[Verdict, ...]) -> Finding:
    codes = ", ".join(dict.fromkeys(v.code for v in other if v.outcome in (Outcome.FAIL, Outcome.WARN)))
    name, said = generation.name, word(other)
    return Finding(
        code=GUESSED,
        severity=Severity.NOTE,
        place=cluster_place(page.document.name),
        message=Text(
            f"for {name} the same table would be {said} ({codes})", f"若用于 {name}，该表的结论为 {said}（{codes}）"
        ),
        remedy=Text(f"judge it so: --generation {generation}", f"按该产品代检查：--generation {generation}"),
    )


def violations(page: Sheet) -> tuple[dict[str, object], ...]:
    """Return each violation as scripts want it: code, rule, severity, HCCL's code, line, path, value."""
    return tuple(
        {
            "code": rule.code,
            "rule": rule.name,
            "severity": one.severity or rule.severity,
            "hccl": rule.ends_with(one) or None,
            "silent": rule.quiet(one),
            "line": one.spot.line,
            "path": one.spot.path,
            "value": one.spot.value[:_SHOWN],
        }
        for rule in rules()
        if _unfit(rule, page) is None
        for one in rule.judge(page)
    )


def _verdicts(rule: Rule, page: Sheet) -> Iterator[Verdict]:
    file = cluster_place(page.document.name)
    if (reason := _unfit(rule, page)) is not None:
        yield Verdict(code=rule.code, place=file, outcome=Outcome.SKIP, reason=reason)
        return
    found: dict[Place, list[Finding]] = {}
    for one in rule.judge(page):
        item = _finding(rule, one, page.document)
        found.setdefault(item.place, []).append(item)
    for place, items in found.items():
        worst = max((f.severity for f in items), key=_ORDER.index)
        yield Verdict(code=rule.code, place=place, outcome=_OUTCOMES[worst], findings=tuple(items))
    gaps = {_place(spot, page.document): reason for spot, reason in (rule.unknown(page) if rule.unknown else ())}
    for place, reason in gaps.items():
        if place not in found:
            yield Verdict(code=rule.code, place=place, outcome=Outcome.UNKNOWN, reason=reason)
    if not found and not gaps:
        yield Verdict(code=rule.code, place=file, outcome=Outcome.PASS)


def _unfit(rule: Rule, page: Sheet) -> str | None:
    if rule.stage is not Stage.FILE and page.table is None:
        return "the file holds no table"
    if rule.stage is Stage.LIVE and page.live is None:
        return "judged by the file alone"
    return None


def _finding(rule: Rule, one: Mark, document: Document) -> Finding:
    spot = one.spot
    where_en = ", ".join(w for w in (f"line {spot.line}" if spot.line else "", spot.path) if w)
    where_zh = "，".join(w for w in (f"第 {spot.line} 行" if spot.line else "", spot.path) if w)
    reaction = rule.reaction(one)
    return Finding(
        code=rule.code,
        severity=one.severity or rule.severity,
        certainty=Certainty.SURE,
        place=_place(spot, document),
        message=Text(
            en=f"{f'{where_en}: ' if where_en else ''}{one.message.en}{f'; {reaction.en}' if reaction.en else ''}",
            zh=f"{f'{where_zh}：' if where_zh else ''}{one.message.zh}{f'；{reaction.zh}' if reaction.zh else ''}",
        ),
        remedy=rule.mend,
        evidence=(_evidence(spot, document),),
    )


def _evidence(spot: Spot, document: Document) -> Evidence:
    where = f"{document.name}:{spot.line}" if spot.line else document.name
    return Evidence(command=where, excerpt=f"{spot.path} = {spot.value}"[:_SHOWN] if spot.value else spot.path)


def _place(spot: Spot, document: Document) -> Place:
    """The device or server that the table names there, when its words can be a name; else the file."""
    if not _NAME.fullmatch(spot.server):
        return cluster_place(document.name)
    return server_place(spot.server) if spot.device is None else device_place(spot.server, spot.device)
