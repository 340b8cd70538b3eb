"""A record as plain text: one screen, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.report import Report
from rankready.model.plain import plain
from rankready.reports import _cabling as cables
from rankready.reports import _extra as parts
from rankready.reports import _sections as sections
from rankready.reports import _why as why
from rankready.reports import _words as words
from rankready.reports._escape import escape
from rankready.reports._groups import groups
from rankready.reports._sections import Section
from rankready.reports._width import LEAST, cells, clip, hang

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.model.text import Lang

SCREEN = 24


def draw(record: Record, lang: Lang, width: int) -> str:
    """Write at most 24 lines: how it stands, what is wrong and what to do next, what is not known, where more is.

    Plain text without colour or cursor movement; nothing from a remote machine reaches it unescaped.
    """
    width = max(LEAST, width)
    top = _top(record, lang, width)
    last = _last(record, lang, width)
    body = _fitted(_body(record, lang, width), SCREEN - len(top) - len(last))
    lines = [*top, *(line for s in body for line in _lines(s, lang, width)), *last]
    return "\n".join(escape(line) for line in lines) + "\n"


def _top(record: Record, lang: Lang, width: int) -> list[str]:
    duration = words.duration(record.seconds, lang)
    head = [f"rankready {escape(record.verb)}", escape(record.cluster), words.sizes(record, lang), duration]
    lines = [clip("   ".join(h for h in head if h), width)]
    if record.simulated:
        lines.append(clip(words.SIMULATED.to(lang), width))
    return lines + hang(f"{words.state(record, lang)}   ", words.counts(record, lang), width)


def _body(record: Record, lang: Lang, width: int) -> list[Section]:
    """Most important first; when the screen is full the longest gives way."""
    found = plain(record.extra)
    extra = found if isinstance(found, dict) else {}
    if record.verb == "why":
        return [s for s in (*why.sections(extra, lang, width), parts.notes(extra, lang, width)) if s.items]
    body = [parts.cause(extra, lang, width), parts.ranks(extra, lang, width)]
    if record.plan is not None:
        body.append(sections.problems(record.plan, lang, width))
    body += sections.findings(record, lang, width)
    if record.verb == "cabling":
        body += cables.sections(record, extra, lang, width)
    body += [parts.trouble(extra, lang, width), parts.suspects(extra, lang, width)]
    if record.plan is not None:
        logins = parts.logins(extra)
        body += [sections.unread(record.plan, logins, lang, width), sections.changes(record.plan, lang, width)]
    body += [sections.steps(record, lang, width), parts.notes(extra, lang, width), parts.coverage(extra, lang, width)]
    body.append(parts.goes_on(extra, lang, width))
    return [s for s in body if s.items]


def _fitted(body: list[Section], room: int) -> list[Section]:
    while sum(s.lines for s in body) > room:
        number = max(range(len(body)), key=lambda i: (len(body[i].items) > 1, body[i].lines))
        if len(body[number].items) <= 1:
            return _one_liners(body, room)
        body = [s.shorter() if i == number else s for i, s in enumerate(body)]
    return body


def _one_liners(body: list[Section], room: int) -> list[Section]:
    """Keep the first line of each; a screen has more lines than there are kinds of sections."""
    return [Section(items=(s.items[0][:1],)) for s in body][:room]


def _lines(section: Section, lang: Lang, width: int) -> list[str]:
    lines = [line for item in section.items for line in item]
    if not section.left:
        return lines
    more = words.EARLIER if section.newest_last else words.MORE
    told = clip(f" {more.to(lang).format(n=f'{section.left:,}')}", width)
    return [told, *lines] if section.newest_last else [*lines, told]


def _last(record: Record, lang: Lang, width: int) -> list[str]:
    """Where to read more, and the exit code; the code stays when the line is too long for both."""
    end = words.EXIT.to(lang).format(n=record.exit)
    if record.simulated:
        end = f"{words.SIMULATED_SHORT.to(lang)}   {end}"
    told = groups(record, lang)
    hints = [f"rankready explain {escape(told[0].codes[0])}"] if told else []
    if record.verdicts or record.steps or record.plan is not None:
        hints.append("rankready report")
    while hints:
        line = "   ".join((words.READ_MORE.to(lang) + "   ".join(hints), end))
        if cells(line) <= width:
            return [line]
        hints.pop()
    return [clip(end, width)]


REPORT = Report(name="text", draw=draw)
