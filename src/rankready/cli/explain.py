"""Say what a code means, why it matters and how to mend it. · 解释代码的含义、影响与修复方法。"""

from __future__ import annotations

import json
import shutil
from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn

import click

from rankready import catalog
from rankready.cli._app import USAGE, fail, json_option
from rankready.model.text import Text, visible

if TYPE_CHECKING:
    from rankready.cli._app import Said
    from rankready.kind.check import Check
    from rankready.kind.explanation import Explanation

_HEADINGS = {
    "means": Text(en="What it means", zh="含义"),
    "matters": Text(en="Why it matters", zh="影响"),
    "mend": Text(en="How to mend it", zh="修复"),
}
_WIDEST = 100


@click.command("explain")
@click.argument("code")
@json_option
@click.pass_obj
def COMMAND(said: Said, code: str, *, as_json: bool) -> None:  # noqa: N802  (the catalogue's name)
    """Explain CODE (NET001, LOG070, EI0002, 507015, 0x81078603) or a name (link_down).

    Exit 0: explained. 2: no such code; the nearest ones are named.
    """
    found = _checks()
    check = next((c for c in found if code.lower() in (c.code.lower(), c.name)), None)
    if check is None:
        _log_word(said, code, tuple(found), as_json=as_json)
        return
    explanation = found[check]
    if as_json:
        click.echo(json.dumps(_object(check, explanation), ensure_ascii=False, indent=2))
        return
    click.echo(_page(said, check, explanation))


def _log_word(said: Said, code: str, checks: tuple[Check, ...], *, as_json: bool) -> None:
    """Explain what logs show; ends when nothing is called so."""
    from rankready.cli import _log_words  # noqa: PLC0415  (start-up time)

    found = _log_words.find(code)
    if found is None:
        _unknown(said, code, checks)
    told = _log_words.parts(found)
    if as_json:
        out: dict[str, object] = {"version": 1, "verb": "explain", "exit": 0, "code": found.code, "name": found.kind}
        click.echo(json.dumps(out | {k: _pair(t) for k, t in told.items()}, ensure_ascii=False, indent=2))
        return
    head = "  ".join(p for p in (found.code, found.kind) if p)
    click.echo(_body(said, head, told))


def _checks() -> dict[Check, Explanation]:
    from rankready.kind.check import Check  # noqa: PLC0415  (start-up time)
    from rankready.kind.explanation import read  # noqa: PLC0415  (the same)

    found: dict[Check, Explanation] = {}
    for name in catalog.names("checks"):
        module = catalog.module("checks", name)
        offered = getattr(module, "CHECK", ())
        for check in offered if isinstance(offered, tuple) else (offered,):
            if isinstance(check, Check):
                found[check] = read(module.__doc__ or "")
    return found


def _unknown(said: Said, code: str, checks: tuple[Check, ...]) -> NoReturn:
    from rankready.cli import _log_words  # noqa: PLC0415  (start-up time)

    words = [c.code for c in checks] + [c.name for c in checks] + _log_words.words()
    near = sorted(get_close_matches(code.upper(), words, n=3, cutoff=0.5)) or get_close_matches(code.lower(), words)
    shown = visible(code)[:60]
    hint = Text(en=f"; nearest: {', '.join(near)}", zh=f"；相近的有：{'、'.join(near)}").to(said.lang) if near else ""
    told = Text(en=f"no code is called {shown}{hint}", zh=f"没有名为 {shown} 的代码{hint}")
    listed = Text(en="rankready check --list shows all", zh="rankready check --list 列出全部")
    fail(f"{told.to(said.lang)}\n{listed.to(said.lang)}", USAGE)


def _object(check: Check, explanation: Explanation) -> dict[str, object]:
    out: dict[str, object] = {"version": 1, "verb": "explain", "exit": 0, "code": check.code, "name": check.name}
    out["title"] = _pair(check.title)
    for key in _HEADINGS:
        out[key] = _pair(getattr(explanation, key))
    return out


def _pair(text: Text) -> dict[str, str]:
    return {"en": text.en, "zh": text.zh}


def _page(said: Said, check: Check, explanation: Explanation) -> str:
    head = f"{check.code}  {check.name}  {check.title.to(said.lang)}"
    return _body(said, head, {key: getattr(explanation, key) for key in _HEADINGS})


def _body(said: Said, head: str, told: dict[str, Text]) -> str:
    from rankready.reports._width import wrap  # noqa: PLC0415  (start-up time)

    width = min(_WIDEST, shutil.get_terminal_size((80, 24)).columns) - 2
    lines = [head]
    for key, heading in _HEADINGS.items():
        lines += ["", heading.to(said.lang)]
        for paragraph in told[key].to(said.lang).split("\n\n"):
            lines += [f"  {line}" for line in wrap(paragraph, width, 1000)]
    return "\n".join(lines)
