"""`mesh --verify`: a certificate is judged by itself; and options that exclude each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from healthy_cluster import make_cluster

from rankready.cli._app import group
from rankready.mesh.certificate import certificate
from rankready.mesh.ledger import Ledger
from rankready.mesh.probe import Mode, ProbeResult
from rankready.mesh.schedule import schedule
from rankready.products import atlas_a1

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


def run(*words: str, lang: str = "en") -> Result:
    return CliRunner().invoke(group, ["--lang", lang, "mesh", *words])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    plan = schedule(make_cluster(3), atlas_a1.PRODUCT, mode=Mode.DIRECTED)
    made = Ledger.of(plan, (ProbeResult(probe=p, sent=3, received=3) for r in plan.rounds for p in r))
    path = tmp_path / "mesh.certificate.json"
    path.write_text(json.dumps(certificate(made, began="2026-03-02T08:00:00", ended="2026-03-02T08:01:00")))
    return path


def test_a_certificate_that_holds_says_what_it_claims(kept: Path) -> None:
    done = run("--verify", str(kept))
    assert done.exit_code == 0
    assert "holds: 48 of 48 planned probes proven" in done.output
    assert "COMPLETE" in done.output
    assert "成立" in run("--verify", str(kept), lang="zh").output


def test_one_that_was_changed_does_not_hold(kept: Path) -> None:
    said = json.loads(kept.read_text())
    kept.write_text(json.dumps({**said, "proven": said["proven"] + 1}))
    done = run("--verify", str(kept))
    assert done.exit_code == 1
    assert "its digest differs" in done.output
    assert "proven is 48, said is 49" in done.output


@pytest.mark.parametrize("text", ["", "[]", "{", '"\\u001b[31m"', '{"version": "\\u001b[2J"}'])
def test_what_is_none_is_refused_and_shown_without_control_characters(text: str, tmp_path: Path) -> None:
    path = tmp_path / "none"
    path.write_text(text)
    done = run("--verify", str(path))
    assert done.exit_code in (1, 2)
    assert "\x1b" not in done.output
    assert "Traceback" not in done.output
