"""Commands that are shown to a person name the cluster file that the person named: typed as shown, they work."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.model.finding import Finding, Verdict
    from rankready.model.record import Record

_HEAD = re.compile(r"rankready \w+(?: \w+)?   ")  # a report's first line says what it is: `rankready check   lab`
_WITHOUT = ("explain", "lab", "demo", "read", "init", "vet")  # they need no cluster file


def named(file: str, default: str) -> str:
    """Return the file that must be named again, empty where nothing must: the default, or the environment's own."""
    return "" if file in (default, os.environ.get("RANKREADY_CLUSTER", "")) else file


def addressed_text(text: str, file: str, verbs: tuple[str, ...]) -> str:
    """Put ``-f FILE`` into every command of ours in a text that works on a cluster."""
    words = "|".join(re.escape(v) for v in verbs if v not in _WITHOUT)
    command = re.compile(rf"\brankready (?=(?:{words})\b)")
    put = f"rankready -f {shlex.quote(file)} "
    return "\n".join(line if _HEAD.match(line) else command.sub(lambda _: put, line) for line in text.split("\n"))


def addressed(record: Record, file: str, verbs: tuple[str, ...]) -> Record:
    """Return a record whose remedies name the file."""

    def said(text: str | Text) -> str | Text:
        if isinstance(text, str):
            return addressed_text(text, file, verbs)
        return Text(en=addressed_text(text.en, file, verbs), zh=addressed_text(text.zh, file, verbs))

    def found(finding: Finding) -> Finding:
        return replace(finding, remedy=said(finding.remedy))

    def judged(verdict: Verdict) -> Verdict:
        return replace(verdict, findings=tuple(found(f) for f in verdict.findings)) if verdict.findings else verdict

    step = record.extra.get("next")
    extra = {**record.extra, "next": said(step)} if isinstance(step, Text) else record.extra
    return replace(record, verdicts=tuple(judged(v) for v in record.verdicts), extra=extra)
