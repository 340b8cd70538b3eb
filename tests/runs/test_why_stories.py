"""Make-believe jobs of every kind of first fault, in the wording of four generations."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import pytest
from log_bundles import STYLES, T0, Bundle
from log_stories import STORIES

from rankready.runs.why import explain_folder

if TYPE_CHECKING:
    from pathlib import Path

    from log_stories import Truth

VARIANTS: dict[str, dict[str, Any]] = {
    **{f"wording {s}": {"style": s} for s in STYLES},
    "in containers": {"container": True},
    "a clock ahead, measured": {"style": "8.0", "skew": {"n12": 600.0}},
    "a clock behind, not measured": {"skew": {"n11": -600.0}, "measured": False},
    "four servers of eight": {"hosts": 4, "per_host": 8},
    "devices 4 to 7": {"first_npu": 4},
    "no heartbeat": {"heartbeat": False},
}


def told(folder: Path, story: str, variant: dict[str, Any]) -> tuple[dict[str, Any], Truth]:
    bundle = Bundle(folder, **variant)
    truth = STORIES[story](bundle)
    bundle.write()
    return explain_folder(folder), truth


WORDINGS = tuple(VARIANTS)[: len(STYLES)]
OTHERS = tuple(VARIANTS)[len(STYLES) :]
# every story in every wording; the other circumstances take turns
TOLD = [(s, v) for s in STORIES for v in WORDINGS] + [
    (s, OTHERS[(n + turn) % len(OTHERS)]) for n, s in enumerate(STORIES) for turn in (0, 3)
]


@pytest.mark.parametrize(("story", "variant"), TOLD)
def test_a_story_is_understood(story: str, variant: str, tmp_path: Path) -> None:
    found, truth = told(tmp_path, story, VARIANTS[variant])
    place: dict[str, Any] = found["cause"] or next(iter(found["suspects"]), {})
    assert found["outcome"] == truth.outcome
    assert place.get("kind", "none") == truth.kind
    assert sorted(place.get("servers", [])) == sorted(truth.hosts)
    if truth.ranks is not None:
        assert sorted(place.get("ranks") or []) == sorted(truth.ranks)
    if truth.at is not None and found["cause"]:
        when = (dt.datetime.fromisoformat(found["cause"]["time"]) - T0).total_seconds()
        assert abs(when - truth.at) <= truth.tolerance


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("story", STORIES)
def test_with_files_missing_nobody_is_blamed_wrongly(story: str, seed: int, tmp_path: Path) -> None:
    """Whatever part of the files is gone: the right place, or unknown; never another, and never "nothing"."""
    rng = random.Random(f"{story}{seed}")  # noqa: S311  (a choice, no secret)
    bundle = Bundle(tmp_path, style=rng.choice(STYLES), hosts=3 if story != "network_cut" else 2)
    truth = STORIES[story](bundle)
    bundle.write()
    files = sorted(p for p in tmp_path.rglob("*") if p.is_file() and p.suffix != ".json")
    for path in rng.sample(files, rng.randint(1, len(files) // 2)):
        path.unlink()
    found = explain_folder(tmp_path)
    if truth.outcome == "none":
        assert found["cause"] is None
        return
    assert found["outcome"] != "none"
    if found["cause"]:
        assert set(found["cause"]["servers"]) <= set(truth.hosts)
