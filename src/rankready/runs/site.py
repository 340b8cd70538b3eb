"""What a verb works with: the cluster, its servers, where its records lie, and how it tells how far it is."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankready.model.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.text import Text
    from rankready.runs.fleet import Fleet


def now_utc() -> str:
    """Return the present time in UTC, ISO 8601 with milliseconds."""
    return dt.datetime.now(tz=dt.UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One verb's surroundings. ``home`` is ``.rankready/`` beside cluster.yaml; ``say`` writes progress to stderr."""

    cluster: Cluster
    fleet: Fleet
    home: Path
    say: Callable[[Text], None]
    began: float = field(default_factory=time.monotonic)
    at: str = field(default_factory=now_utc)

    def record(self, verb: str, code: int, **parts: Any) -> Record:  # noqa: ANN401  (the record's own fields)
        """Make this verb's record: times, sizes and honesty flags filled in, ``parts`` as given."""
        return Record(
            verb=verb,
            cluster=self.cluster.name,
            started=self.at,
            seconds=time.monotonic() - self.began,
            exit=code,
            simulated=self.cluster.simulated,
            servers=len(self.cluster.servers),
            devices=sum(len(s.devices) for s in self.cluster.servers),
            **parts,
        )

    def fresh(self) -> Site:
        """Return the same surroundings with the clock started anew, for the next step."""
        return replace(self, began=time.monotonic(), at=now_utc())
