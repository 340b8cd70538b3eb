"""A lab with its devices addressed, and the product's verbs on it as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from rankready.lab import doors
from rankready.lab.engine import Lab, up
from rankready.lab.parts import missing
from rankready.lab.spec import Door, LabSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LIMIT_S = 150


@dataclass(frozen=True)
class Stage:
    """A lab that stands."""

    lab: Lab

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a verb, with its answer as JSON."""
        file = str(self.lab.directory / "cluster.yaml")
        return subprocess.Popen(
            [sys.executable, "-m", "rankready", "-f", file, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def verbs(self, *verbs: tuple[str, ...], limit_s: float = LIMIT_S) -> list[tuple[int, dict[str, Any]]]:
        """Run verbs that only look side by side; each one's exit code and JSON."""
        started = [self.start(*verb, "--json") for verb in verbs]
        return [ended(process, limit_s)[:2] for process in started]

    def verb(self, *words: str) -> tuple[int, dict[str, Any], str]:
        """Run one verb; its exit code, its JSON, and what it said on stderr."""
        return ended(self.start(*words))


def ended(process: subprocess.Popen[str], limit_s: float = LIMIT_S) -> tuple[int, dict[str, Any], str]:
    """Wait for a verb that answers in JSON."""
    out, err = process.communicate(timeout=limit_s)
    assert out, err
    return process.returncode, json.loads(out), err


@contextmanager
def stage(directory: Path, **asked: Any) -> Iterator[Stage]:  # noqa: ANN401  (LabSpec's own fields)
    """Stand a lab on the best door, address its devices, take it down."""
    spec = LabSpec(directory=directory, **asked)
    lacks = "; ".join(en for en, _ in missing(spec))
    if spec.real_parts and (lacks or doors.refusal(Door.ROOT)):
        pytest.skip(lacks or f"the root door does not open here: {doors.refusal(Door.ROOT)}")
    up(spec)
    lab = Lab.open(directory)
    try:
        made = Stage(lab)
        code, said, err = made.verb("apply", "--yes", "--json")
        assert code == 0, (said, err)
        yield made
    finally:
        lab.down()


def roots(said: dict[str, Any]) -> set[tuple[str, str, str]]:
    """What a verb shows that is neither well nor a consequence; a lost server is its own HST001, not each rule's."""
    shown = {
        (v["code"], v["place"], v["outcome"]) for v in said["verdicts"] if v["outcome"] in ("fail", "warn", "unknown")
    }
    lost = any(code == "HST001" and outcome == "unknown" for code, _, outcome in shown)
    return {f for f in shown if not lost or f[2] != "unknown" or f[0] == "HST001"}


def declared(told: dict[str, Any], verb: str) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """What a fault must and may make a verb show."""
    mine = [c for c in told["causes"] if c["verb"] == verb]
    may = {(c["code"], c["place"], c["outcome"]) for c in mine}
    return {(c["code"], c["place"], c["outcome"]) for c in mine if not c["optional"]}, may
