"""Codes are for ever, names state the fault, and what follows from what has no circle."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from rankready import catalog
from rankready.kind.check import Check

CHECKS = tuple(catalog.offered("checks", "CHECK", Check))
LEDGER = Path(__file__).with_name("codes.txt")
SECTIONS = ("Means:", "Matters:", "Mend:", "含义：", "影响：", "修复：")


def ledger() -> dict[str, str]:
    lines = [line.split() for line in LEDGER.read_text().splitlines() if line and not line.startswith("#")]
    assert len({code for code, *_ in lines}) == len(lines)
    return {code: name for code, name, *_ in lines}


def test_codes_are_in_the_ledger_and_never_reused() -> None:
    written = ledger()
    for check in CHECKS:
        assert written.get(check.code) == check.name
    assert len({c.code for c in CHECKS}) == len(CHECKS)


def test_file_and_check_have_one_name() -> None:
    assert tuple(c.name for c in CHECKS) == catalog.names("checks")


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.name)
def test_the_docstring_explains_in_both_languages(check: Check) -> None:
    text = inspect.getdoc(sys.modules[f"rankready.checks.{check.name}"]) or ""
    lines = text.splitlines()
    assert lines[0].endswith(".")
    assert [line for line in lines if line in SECTIONS] == list(SECTIONS)
    for section in SECTIONS:
        assert lines[lines.index(section) + 1].startswith("    ")


def test_what_follows_from_what_has_no_circle() -> None:
    after = {c.code: c.after for c in CHECKS}

    def roots(code: str, path: tuple[str, ...]) -> None:
        assert code not in path, f"{code} follows from itself: {path}"
        for before in after.get(code, ()):
            roots(before, (*path, code))

    for code in after:
        roots(code, ())


def test_after_names_codes_that_exist() -> None:
    written = ledger()
    for check in CHECKS:
        assert set(check.after) <= set(written)
