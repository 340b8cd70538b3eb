"""What a check's file says about its own rule, in both languages."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from rankready.model.text import Text

SECTIONS = {
    "means": Text(en="Means:", zh="含义："),
    "matters": Text(en="Matters:", zh="影响："),
    "mend": Text(en="Mend:", zh="修复："),
}
"""The sections that the docstring of every file in ``checks/`` has, in each language once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What a code means, why it matters for a job, and how to mend it. Lines are joined into paragraphs."""

    statement: str
    means: Text
    matters: Text
    mend: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one code means where no check's file tells it. ``means`` None: the title says it all.

    A module that judges by codes of its own offers ``CODES: Mapping[str, Rule]``.
    """

    name: str
    title: Text
    matters: Text
    mend: Text
    means: Text | None = None

    def explanation(self) -> Explanation:
        """Return it in the sections that every code has."""
        return Explanation(
            statement=self.title.en, means=self.means or self.title, matters=self.matters, mend=self.mend
        )


def read(docstring: str) -> Explanation:
    """Read the docstring of a check's module; raises ValueError naming the section that is missing or empty."""
    lines = inspect.cleandoc(docstring).splitlines()
    headings = {
        word: (key, lang) for key, text in SECTIONS.items() for lang, word in (("en", text.en), ("zh", text.zh))
    }
    found: dict[tuple[str, str], list[str]] = {}
    body: list[str] = []
    for line in lines[1:]:
        heading = next((h for h in headings if line.startswith(h)), None)
        if heading is None:
            body.append(line)
            continue
        body = found.setdefault(headings[heading], [])
        body.append(line.removeprefix(heading))
    told = {key: Text(en=_section(found, key, "en"), zh=_section(found, key, "zh")) for key in SECTIONS}
    return Explanation(statement=lines[0] if lines else "", **told)


def _section(found: dict[tuple[str, str], list[str]], key: str, lang: str) -> str:
    text = _joined(found.get((key, lang), []), "" if lang == "zh" else " ")
    if not text:
        heading = SECTIONS[key].zh if lang == "zh" else SECTIONS[key].en
        raise ValueError(f"no section {heading!r}")
    return text


def _joined(lines: list[str], space: str) -> str:
    """Join the lines of each paragraph; Chinese needs no space where a line was broken between its characters."""
    paragraphs: list[str] = [""]
    for line in (raw.strip() for raw in lines):
        if not line:
            paragraphs += [""] if paragraphs[-1] else []
        elif not paragraphs[-1]:
            paragraphs[-1] = line
        else:
            latin = paragraphs[-1][-1].isascii() or line[0].isascii()
            paragraphs[-1] += (" " if latin else space) + line
    return "\n\n".join(p for p in paragraphs if p)
