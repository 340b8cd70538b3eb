"""Say what a code means, why it matters and how to mend it. · 解释代码的含义、影响与修复方法。"""

from __future__ import annotations

import json
import shutil
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NoReturn

import click

from rankready.cli._app import USAGE, fail, json_option
from rankready.model.text import Text, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankready.cli._app import Said
    from rankready.cli._explained import Entry

_HEADINGS = {
    "means": Text(en="What it means", zh="含义"),
    "matters": Text(en="Why it matters", zh="影响"),
    "mend": Text(en="How to mend it", zh="修复"),
}
_WIDEST = 100
_LIKE = 0.6


@click.command("explain")
@click.argument("code", required=False)
@json_option
@click.pass_obj
def COMMAND(said: Said, code: str | None, *, as_json: bool) -> None:  # noqa: N802  (the catalogue's name)
    """Explain CODE (NET001, JOB104, RTB010, LOG070, EI0002, 507015, 0x81078603) or a name (link_down).

    Without CODE all codes are listed. Contacts nobody, needs no cluster.yaml. Exit 2: no such code; the nearest ones
    are named.
    """
    from rankready.cli._explained import entries, find  # noqa: PLC0415  (start-up time)

    if code is None:
        _list(said, entries(), as_json=as_json)
        return
    entry = find(code)
    if entry is None:
        _unknown(said, code)
    if as_json:
        click.echo(_json(_object(entry)))
        return
    click.echo(_page(said, entry))


def _list(said: Said, found: Iterable[Entry], *, as_json: bool) -> None:
    if as_json:
        rows = [{"code": e.code, "name": e.name, "title": _pair(e.title)} for e in found]
        click.echo(_json({"codes": rows}))
        return
    family = ""
    for entry in found:
        if entry.code[:3] != family:
            family = entry.code[:3]
            click.echo(family)
        click.echo(f"  {entry.code}  {entry.name:24} {entry.title.to(said.lang)}")


def _unknown(said: Said, code: str) -> NoReturn:
    from rankready.cli._explained import entries, vendor  # noqa: PLC0415  (start-up time)

    known = (*entries(), *vendor())
    words = [e.code for e in known] + [e.name for e in known if e.name]
    near = _nearest(code, words)
    shown = visible(code)[:60]
    hint = Text(en=f"; nearest: {', '.join(near)}", zh=f"；相近的有：{'、'.join(near)}").to(said.lang) if near else ""
    told = Text(en=f"no code is called {shown}{hint}", zh=f"没有名为 {shown} 的代码{hint}")
    listed = Text(en="rankready explain lists all", zh="rankready explain 列出全部")
    fail(f"{told.to(said.lang)}\n{listed.to(said.lang)}", USAGE)


def _nearest(code: str, words: list[str]) -> list[str]:
    """Return at most three, the likest first; among equals the first of its family."""
    matcher = SequenceMatcher(b=code.lower())

    def likeness(word: str) -> float:
        matcher.set_seq1(word.lower())
        return matcher.ratio()

    ranked = sorted((-likeness(w), w) for w in dict.fromkeys(words))
    return [word for score, word in ranked[:3] if -score >= _LIKE]


def _json(parts: dict[str, object]) -> str:
    return json.dumps({"version": 1, "verb": "explain", "exit": 0, **parts}, ensure_ascii=False, indent=2)


def _object(entry: Entry) -> dict[str, object]:
    told = {key: _pair(getattr(entry.told, key)) for key in _HEADINGS}
    return {"code": entry.code, "name": entry.name, "title": _pair(entry.title), **told}


def _pair(text: Text) -> dict[str, str]:
    return {"en": text.en, "zh": text.zh}


def _page(said: Said, entry: Entry) -> str:
    from rankready.reports._width import wrap  # noqa: PLC0415  (start-up time)

    width = min(_WIDEST, shutil.get_terminal_size((80, 24)).columns) - 2
    title = entry.title.to(said.lang)
    lines = wrap("  ".join(p for p in (entry.code, entry.name, title) if p), width + 2, 4)
    for key, heading in _HEADINGS.items():
        told = getattr(entry.told, key).to(said.lang)
        if key == "means" and told == title:
            continue
        lines += ["", heading.to(said.lang)]
        for paragraph in told.split("\n\n"):
            lines += [f"  {line}" for line in wrap(paragraph, width, 1000)]
    return "\n".join(lines)
