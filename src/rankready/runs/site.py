"""What a verb works with: the cluster, its servers, where its records lie, and how it tells how far it is."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.text import Text
    from rankready.runs.fleet import Fleet


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One verb's surroundings. ``home`` is ``.rankready/`` beside cluster.yaml; ``say`` writes progress to stderr."""

    cluster: Cluster
    fleet: Fleet
    home: Path
    say: Callable[[Text], None]


def now_utc() -> str:
    """Return the present time in UTC, ISO 8601 with milliseconds."""
    return dt.datetime.now(tz=dt.UTC).isoformat(timespec="milliseconds")
