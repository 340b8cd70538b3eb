"""The recorded bundles with known answers, and how an answer is scored."""

from __future__ import annotations

import datetime as dt
import json
import tarfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "runs" / "bundles"
NAMES = tuple(sorted(p.name.removesuffix(".tar.gz") for p in FOLDER.glob("*.tar.gz")))


def unpacked(name: str, into: Path) -> Path:
    """Unpack one bundle and return its folder."""
    with tarfile.open(FOLDER / f"{name}.tar.gz") as tar:
        tar.extractall(into, filter="data")
    return into / name


def truth_of(name: str) -> dict[str, Any]:
    """Return what really happened."""
    told: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return told


def wrong(found: dict[str, Any], truth: dict[str, Any]) -> list[str]:
    """Say what is wrong with an answer; an empty list is a solved case."""
    cause = found["cause"] or {}
    root = truth["root"]
    kind = cause.get("kind", "none" if found["outcome"] == "none" else "unknown")
    if found["outcome"] == "unknown" and truth["kind"] != "unknown":
        kind = next((s["kind"] for s in found["suspects"]), kind)
    bad = []
    if found["outcome"] != truth["verdict"]:
        bad.append(f"outcome {found['outcome']}")
    if kind != truth["kind"]:
        bad.append(f"kind {kind}")
    if sorted(cause.get("servers", [])) != sorted(root["hosts"]):
        bad.append(f"servers {cause.get('servers')}")
    if root["ranks"] is not None and sorted(cause.get("ranks") or []) != sorted(root["ranks"]):
        bad.append(f"ranks {cause.get('ranks')}")
    if truth["time"] and not _near(cause.get("time"), truth):
        bad.append(f"time {cause.get('time')}")
    if set(cause.get("servers", [])) & set(truth.get("must_not_blame", [])):
        bad.append("blames who must not be blamed")
    return bad


def _near(time: str | None, truth: dict[str, Any]) -> bool:
    if time is None:
        return False
    apart = dt.datetime.fromisoformat(time) - dt.datetime.fromisoformat(truth["time"])
    return abs(apart.total_seconds()) <= float(truth["tolerance_s"])
