"""What a verb works with: the cluster, its servers, where its records lie, and how it tells how far it is."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankready.model.finding import exit_code
from rankready.model.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
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

    def judged(
        self, verb: str, verdicts: tuple[Verdict, ...], *, strict: bool = False, extra: Mapping[str, Any] | None = None
    ) -> Record:
        """Make the record of a look: the exit code leaves out what the inventory waives, the record shows all."""
        today = dt.datetime.now(tz=dt.UTC).date()
        waived = [v for v in verdicts if any(w.covers(v.code, v.place, today) for w in self.cluster.waivers)]
        code = exit_code(tuple(v for v in verdicts if v not in waived), strict=strict)
        parts = {**(extra or {}), **({"waived": [f"{v.code} {v.place}" for v in waived]} if waived else {})}
        return self.record(verb, code, verdicts=verdicts, extra=parts)

    def fresh(self) -> Site:
        """Return the same surroundings with the clock started anew, for the next step."""
        return replace(self, began=time.monotonic(), at=now_utc())
