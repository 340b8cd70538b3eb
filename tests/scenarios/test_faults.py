"""Each lab fault, end to end over real SSH: exactly the findings that it declares, and quiet again once healed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from fault_places import ELSEWHERE, NETWORK, SLOW, TOOL

from rankready import catalog
from rankready.lab import doors
from rankready.lab.engine import Lab, up
from rankready.lab.fault import Fault
from rankready.lab.spec import Door, LabSpec
from rankready.model.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KINDS = {f.kind for f in catalog.offered("lab.faults", "FAULT", Fault)}


def test_every_fault_is_tried_somewhere() -> None:
    assert {*NETWORK, *TOOL, *SLOW, *ELSEWHERE} == KINDS


@dataclass(frozen=True)
class Stage:
    """A lab that stands, with its devices addressed."""

    lab: Lab
    directory: Path

    def rankready(self, *words: str) -> tuple[int, dict[str, Any]]:
        """Run a verb as a user would and return its exit code and its JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "rankready", "-f", str(self.directory / "cluster.yaml"), *words, "--json"],
            capture_output=True,
            text=True,
            check=False,
            timeout=150,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)


def _doors() -> list[Any]:
    found = []
    for door in (Door.ROOT if os.geteuid() == 0 else Door.ROOTLESS, Door.SIMULATED):
        reason = doors.refusal(door)
        marks = [pytest.mark.skip(reason=f"door {door}: {reason}")] if reason else []
        found.append(pytest.param(door, id=door.value, marks=[*marks, pytest.mark.namespaces]))
    return found


@pytest.fixture(scope="module", params=_doors())
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("stage") / "lab"
    up(LabSpec(directory=directory, door=request.param))
    lab = Lab.open(directory)
    try:
        made = Stage(lab=lab, directory=directory)
        code, said = made.rankready("apply", "--yes")
        assert code == 0, said
        yield made
    finally:
        lab.down()


def roots(said: dict[str, Any]) -> set[tuple[str, str, str]]:
    """What a verb shows that is neither well nor a consequence; a lost server is its own HST001, not each rule's."""
    lost = {v["place"] for v in said["verdicts"] if v["code"] == "HST001" and v["outcome"] == "unknown"}
    shown = {
        (v["code"], v["place"], v["outcome"]) for v in said["verdicts"] if v["outcome"] in ("fail", "warn", "unknown")
    }
    return {
        (code, place, outcome) for code, place, outcome in shown if outcome != "unknown" or code == "HST001" or not lost
    }


def test_a_healthy_lab_is_quiet(stage: Stage) -> None:
    for verb in ("check", "mesh", "cabling", "plan"):
        code, said = stage.rankready(verb)
        assert (verb, code, roots(said) if "verdicts" in said else set()) == (verb, 0, set())


@pytest.mark.parametrize("kind", NETWORK)
def test_a_fault_causes_exactly_what_it_declares(stage: Stage, kind: str) -> None:
    try:
        told = stage.lab.fault(kind, NETWORK[kind])
    except LabError as refused:
        pytest.skip(f"{kind}: {refused}")
    try:
        for verb in ("check", "mesh"):
            wanted = [c for c in told["causes"] if c["verb"] == verb]
            must = {(c["code"], c["place"], c["outcome"]) for c in wanted if not c["optional"]}
            may = {(c["code"], c["place"], c["outcome"]) for c in wanted}
            code, said = stage.rankready(verb)
            seen = roots(said)
            assert must <= seen, f"{verb} must show {must - seen}"
            assert seen <= may, f"{verb} must not show {seen - may}"
            assert code == (1 if any(o == "fail" for _, _, o in seen) else 3 if seen else 0)
    finally:
        stage.lab.heal()
    code, said = stage.rankready("check")
    assert (code, roots(said)) == (0, set()), "healed, and still something shows"
