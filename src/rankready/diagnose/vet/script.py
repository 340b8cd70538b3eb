"""Vet a script: all subjects over one reading, in the order of the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.diagnose.vet import arguments, data, device, files, group, meeting
from rankready.diagnose.vet.program import parse
from rankready.diagnose.vet.style import recognise
from rankready.model.finding import Evidence, Finding, Severity
from rankready.model.place import file_place
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUBJECTS = (meeting, device, group, data, files, arguments)


def vet(sources: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return what would go wrong on several servers. ``sources``: path → text, the script first; nothing is run."""
    try:
        program = parse(sources)
    except SyntaxError as error:
        return (_unreadable(error, next(iter(sources))),)
    except (ValueError, RecursionError) as error:
        return (_unreadable(SyntaxError(str(error)), next(iter(sources))),)
    style = recognise(program)
    found = [finding for subject in _SUBJECTS for finding in subject.judge(program, style)]
    rank = {module.path: number for number, module in enumerate(program.modules)}
    return tuple(sorted(found, key=lambda f: (rank[f.place.name], f.place.device, f.code)))


def _unreadable(error: SyntaxError, script: str) -> Finding:
    path, line = error.filename or script, error.lineno or 1
    return Finding(
        code="JOB101",
        severity=Severity.ERROR,
        place=file_place(path, line),
        message=Text(en=f"this is no Python: {error.msg}", zh=f"无法解析为 Python：{error.msg}"),
        remedy=Text(en=f"python3 -m py_compile {path}", zh=f"python3 -m py_compile {path}"),
        evidence=(Evidence(command=f"{path}:{line}", excerpt=(error.text or "").strip()[:200]),),
    )
