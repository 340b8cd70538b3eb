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
    """Explain CODE (NET001) or a check's name (link_down).

    Exit 0: explained. 2: no such code; the nearest ones are named.
    """
    found = _checks()
    check = next((c for c in found if code.lower() in (c.code.lower(), c.name)), None)
    if check is None:
        _unknown(said, code, tuple(found))
    explanation = found[check]
    if as_json:
        click.echo(json.dumps(_object(check, explanation), ensure_ascii=False, indent=2))
        return
    click.echo(_page(said, check, explanation))


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
    words = [c.code for c in checks] + [c.name for c in checks]
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
    from rankready.reports._width import wrap  # noqa: PLC0415  (start-up time)

    width = min(_WIDEST, shutil.get_terminal_size((80, 24)).columns) - 2
    lines = [f"{check.code}  {check.name}  {check.title.to(said.lang)}"]
    for key, heading in _HEADINGS.items():
        lines += ["", heading.to(said.lang)]
        for paragraph in getattr(explanation, key).to(said.lang).split("\n\n"):
            lines += [f"  {line}" for line in wrap(paragraph, width, 1000)]
    return "\n".join(lines)
