"""Every code that a verdict, a log or the vendor's library can show, with what it means."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.cli import _log_words
from rankready.kind.check import Check
from rankready.kind.explanation import Explanation, Rule, read
from rankready.kind.signature import Fault, LogCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.model.text import Text

MODULES = ("rankready.mesh.codes", "rankready.supervise.codes", "rankready.diagnose.vet.codes")
"""Modules outside of plural folders that offer ``CODES``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One code: its name, a line on it, and its sections (means, matters, mend)."""

    code: str
    name: str
    title: Text
    told: Explanation


def entries() -> tuple[Entry, ...]:
    """Return all that is ours, in the order of codes; LOG codes are kinds of first faults."""
    found = [*_checks(), *_modules(), *_ranktable(), *_faults()]
    return tuple(sorted(found, key=lambda e: e.code))


def vendor() -> tuple[Entry, ...]:
    """Return the vendor's codes, as logs show them."""
    return tuple(_log_entry(code) for code in catalog.offered("signatures", "CODES", LogCode))


def find(word: str) -> Entry | None:
    """Find by code or name, whatever its case; ``x`` in a vendor's code stands for any hexadecimal digit."""
    wanted = word.lower()
    ours = [e for e in entries() if wanted in (e.code.lower(), e.name)]
    if ours:  # a check and a kind of first fault may share a name: the check can be run
        return min(ours, key=lambda e: e.code.startswith("LOG"))
    shown = _log_words.find(word)
    return None if shown is None else _log_entry(shown)


def _checks() -> Iterator[Entry]:
    for name in catalog.names("checks"):
        module = catalog.module("checks", name)
        offered = getattr(module, "CHECK", ())
        for check in offered if isinstance(offered, tuple) else (offered,):
            if isinstance(check, Check):
                yield Entry(code=check.code, name=check.name, title=check.title, told=read(module.__doc__ or ""))


def _modules() -> Iterator[Entry]:
    for name in MODULES:
        for code, rule in importlib.import_module(name).CODES.items():
            if not isinstance(rule, Rule):
                message = f"{name}.CODES[{code!r}] holds {rule!r}, not a Rule"
                raise TypeError(message)
            yield Entry(code=code, name=rule.name, title=rule.title, told=rule.explanation())


def _ranktable() -> Iterator[Entry]:
    from rankready.plan.ranktable.explained import explained  # noqa: PLC0415  (start-up time)

    for rule, told in explained().items():
        yield Entry(code=rule.code, name=rule.name, title=rule.title, told=told)


def _faults() -> Iterator[Entry]:
    for fault in catalog.offered("signatures", "FAULTS", Fault):
        yield _log_entry(fault)


def _log_entry(found: Fault | LogCode) -> Entry:
    parts = _log_words.parts(found)
    told = Explanation(statement=parts["title"].en, means=parts["means"], matters=parts["matters"], mend=parts["mend"])
    return Entry(code=found.code, name=found.kind, title=parts["title"], told=told)
