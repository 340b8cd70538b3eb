"""How far each host's printed clock is from the true one (facts/logs 10.3).

Three witnesses: what the launcher measured; the moment at which all ranks of a communicator hear of its success, which
is one moment for all of them; and when a host's first process began, which is after the job was started. The first is
believed unless the second contradicts it by more than ``LIES_S``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LIES_S = 5.0
SLACK_S = 120.0  # a process may begin so long after its job
QUARTER_S = 900.0  # time zones differ by quarters of an hour
BACK_S = 60.0  # concurrent writers change places by less


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """What one host's printed times tell: measured offset, median moment of success, moment of its first process."""

    measured: float | None = None
    ready: float | None = None
    began: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """Printed minus true, in seconds; ``error_s`` is how wrong it may be.

    ``how``: measured, estimated, corrected, or unknown.
    """

    seconds: float = 0.0
    error_s: float = 0.0
    how: str = "measured"


def goes_back(moments: Sequence[float]) -> bool:
    """Tell whether a log's own lines, in the file's order, show that the clock was set back."""
    return any(later < earlier - BACK_S for earlier, later in pairwise(moments))


def offsets(hosts: Mapping[str, Witness], started: float | None, *, utc: bool) -> dict[str, Offset]:
    """Judge every host's clock; ``utc``: the start was told in UTC, so that whole zones are to be taken off first."""
    zones = {h: _zone(w, started) if utc else 0.0 for h, w in hosts.items()}
    found = {h: _alone(w, started, zones[h]) for h, w in hosts.items()}
    anchored = {h: w.ready for h, w in hosts.items() if w.ready is not None}
    if len(anchored) < 2:  # noqa: PLR2004  (one host has nobody to agree with)
        return found
    true_ready = _true_ready(anchored, {h: found[h] for h in anchored}, hosts, started)
    for host, ready in anchored.items():
        implied = ready - true_ready
        if found[host].how == "measured" and abs(implied - found[host].seconds) <= LIES_S:
            continue
        how = "corrected" if hosts[host].measured is not None else "estimated"
        found[host] = Offset(seconds=implied, error_s=2.0, how=how)
    return found


def _zone(witness: Witness, started: float | None) -> float:
    if witness.began is None or started is None:
        return 0.0
    measured = witness.measured or 0.0
    return round((witness.began - measured - started) / QUARTER_S) * QUARTER_S


def _alone(witness: Witness, started: float | None, zone: float) -> Offset:
    """Judge one host by itself."""
    began = witness.began
    if witness.measured is not None:
        given = witness.measured + zone
        # nothing begins before its job: a clock that says so was not measured right
        if began is not None and started is not None and began - given < started - LIES_S - SLACK_S:
            return Offset(seconds=began - started, error_s=SLACK_S, how="corrected")
        late = began - given - started if began is not None and started is not None else 0.0
        return Offset(seconds=given, error_s=late if late > SLACK_S else 0.0)
    if began is None or started is None:
        return Offset(seconds=zone, error_s=SLACK_S * 5, how="unknown")
    late = began - zone - started
    if 0.0 <= late <= SLACK_S:
        return Offset(seconds=zone, error_s=late, how="estimated")
    return Offset(seconds=began - started, error_s=SLACK_S * 5, how="unknown")


def _true_ready(
    anchored: Mapping[str, float],
    found: Mapping[str, Offset],
    hosts: Mapping[str, Witness],
    started: float | None,
) -> float:
    """Return the true moment of the success that all heard: as the most hosts say whose clocks are known."""
    said = {h: ready - found[h].seconds for h, ready in anchored.items()}
    trusted = [h for h in said if found[h].how == "measured"] or list(said)
    best: tuple[int, float] | None = None
    winner = trusted[0]
    for host in trusted:
        agree = sum(abs(said[host] - said[other]) <= LIES_S for other in trusted)
        early = _lateness(hosts[host], found[host], started)
        if best is None or (agree, -early) > best:
            best, winner = (agree, -early), host
    return median(said[h] for h in trusted if abs(said[h] - said[winner]) <= LIES_S)


def _lateness(witness: Witness, offset: Offset, started: float | None) -> float:
    """Tell how odd a host's first process stands to the job's start."""
    if witness.began is None or started is None:
        return 0.0
    return abs(witness.began - offset.seconds - started)
