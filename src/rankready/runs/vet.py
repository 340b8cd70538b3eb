"""Read a training script and the modules that it imports from its own folder, and judge them; nothing is run."""

from __future__ import annotations

import ast
import time
from typing import TYPE_CHECKING

from rankready.diagnose.vet.script import vet
from rankready.model.errors import ConfigError, Mistake
from rankready.model.finding import Outcome, Severity, Verdict, exit_code
from rankready.model.place import Place, PlaceKind
from rankready.model.record import Record
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankready.model.finding import Finding

MOST_FILES = 500
MOST_BYTES = 2 << 20

_OUTCOMES = {Severity.ERROR: Outcome.FAIL, Severity.WARNING: Outcome.WARN, Severity.NOTE: Outcome.PASS}


def vet_script(script: Path, *, strict: bool = False, cluster: str = "") -> Record:
    """Judge one script; exit 1 for ERROR findings. Raises ConfigError for a file that can't be read."""
    started, clock = now_utc(), time.monotonic()
    sources = collect(script)
    verdicts = tuple(_verdict(f) for f in vet(sources))
    if not verdicts:
        verdicts = (Verdict(code="JOB101", place=Place(PlaceKind.FILE, str(script), device=1), outcome=Outcome.PASS),)
    return Record(
        verb="vet",
        cluster=cluster,
        started=started,
        seconds=time.monotonic() - clock,
        exit=exit_code(verdicts, strict=strict),
        verdicts=verdicts,
        extra={"files": list(sources)},
    )


def _verdict(finding: Finding) -> Verdict:
    outcome = _OUTCOMES[finding.severity]
    return Verdict(code=finding.code, place=finding.place, outcome=outcome, findings=(finding,))


def collect(script: Path) -> dict[str, str]:
    """Return path → text of a script and of what it imports from its own folder, the script first."""
    sources: dict[str, str] = {}
    todo = [script]
    while todo and len(sources) < MOST_FILES:
        path = todo.pop(0)
        if str(path) in sources:
            continue
        sources[str(path)] = _read(path)
        todo += _imported(script.parent, path, sources[str(path)])
    return sources


def _read(path: Path) -> str:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    if len(text) > MOST_BYTES:
        raise _unreadable(path, f"{len(text)} bytes")
    return text.decode("utf-8-sig", errors="replace")


def _unreadable(path: Path, seen: str) -> ConfigError:
    return ConfigError((Mistake(file=str(path), line=None, path="vet", seen=seen, expected="a Python script"),))


def _imported(root: Path, path: Path, text: str) -> Iterator[Path]:
    """Yield the files below ``root`` that a file's imports name; a file that can't be parsed names none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for name in names:
                    yield from _files(root, name.name.split("."))
            case ast.ImportFrom(module=module, names=names, level=level):
                base = root if not level else path.parents[min(level, len(path.parents)) - 1]
                parts = module.split(".") if module else []
                yield from _files(base, parts)
                for name in names:
                    yield from _files(base, [*parts, name.name])


def _files(base: Path, parts: list[str]) -> Iterator[Path]:
    """Yield the file of a dotted name, and the ``__init__`` files on the way to it."""
    folder = base
    for part in parts:
        if (folder / part / "__init__.py").is_file():
            yield folder / part / "__init__.py"
        if (folder / f"{part}.py").is_file():
            yield folder / f"{part}.py"
        folder /= part
