"""A saved plan: the values, so that exactly they are applied later or refused as stale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready import __version__
from rankready.model.change import Change, Plan, What
from rankready.model.errors import ConfigError, Mistake
from rankready.model.place import parse_place
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from rankready.runs.plan import Drawn


def save(drawn: Drawn, path: str) -> None:
    """Write a plan; a plan with problems or with devices that could not be read is not worth saving."""
    words = {
        "rankready_plan": 1,
        "made_by": __version__,
        "at": now_utc(),
        "cluster": drawn.cluster.name,
        "problems": [p.message for p in drawn.plan.problems],
        "unread": [[str(place), reason.en] for place, reason in drawn.plan.unread],
        "changes": [
            {
                "place": str(c.place),
                "what": c.what.value,
                "before": c.before,
                "after": c.after,
                "reason": c.reason,
                "reason_zh": c.reason_zh,
            }
            for c in drawn.plan.changes
        ],
    }
    Path(path).write_text(json.dumps(words, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def load(path: str, cluster: str) -> Plan:
    """Read a saved plan of this cluster; raises ConfigError for anything else."""
    try:
        words: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        changes = tuple(
            Change(
                place=parse_place(c["place"]),
                what=What(c["what"]),
                before=c["before"],
                after=c["after"],
                reason=c["reason"],
                reason_zh=c.get("reason_zh", ""),
            )
            for c in words["changes"]
        )
        of, version = words["cluster"], words["rankready_plan"]
        problems = list(words["problems"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _mistake(path, f"{type(error).__name__}: {error}", "a file written by rankready plan -o") from error
    if (of, version) != (cluster, 1):
        raise _mistake(path, f"a plan (version {version}) of cluster {of}", f"a plan (version 1) of cluster {cluster}")
    if problems:
        raise _mistake(path, f"{len(problems)} conflicts: {problems[0]}", "a plan without conflicts")
    return Plan(changes=changes)


def _mistake(path: str, seen: str, expected: str) -> ConfigError:
    return ConfigError((Mistake(file=path, line=None, path="plan", seen=seen, expected=expected),))
