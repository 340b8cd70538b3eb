"""Calls that say more of the host that made them than of the network."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from rankready.mesh.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rankready.mesh.probe import ProbeResult
    from rankready.model.place import Place

_DEVICES = 3
_OF_EACH = 3
_CHANCE = 1e-6  # facts/mesh 9, step 1


def noisy_hosts(results: Sequence[ProbeResult], chance: float = _CHANCE) -> frozenset[str]:
    """Return the servers that lose packets as callers far more than as targets: they measure badly.

    A fault of the network hurts both roles alike (facts/mesh 8, I8); a starved or slow host loses only its own calls.
    ``chance``: of so uneven losses where both roles are hurt alike.
    """
    alive, heard, sent = _heard(results)
    made: dict[str, Counter[Place]] = defaultdict(Counter)
    met: dict[str, Counter[Place]] = defaultdict(Counter)
    hurt: dict[str, set[Place]] = defaultdict(set)
    for r in heard:
        source, target = r.probe.source, r.probe.target
        if source not in alive or target not in alive:
            continue  # a dead device may be called and never call: that would tip the scales of all its partners
        made[source.name][target] += r.sent - r.received
        met[target.name][source] += r.sent - r.received
        if r.received < r.sent:
            hurt[source.name].add(source)
    return frozenset(
        s
        for s in made
        if len(hurt[s]) >= _DEVICES and sent[s][1] > 0 and _tail(_capped(made[s]), _capped(met[s]), sent[s]) < chance
    )


def _heard(
    results: Sequence[ProbeResult],
) -> tuple[set[Place], Iterable[ProbeResult], Mapping[str, list[int]]]:
    """Return the devices that work, the calls that may have lost something, and packets out and in by server."""
    if isinstance(results, Ledger):
        alive = results.working()
        return alive, results.losses(alive), results.exposure(alive)
    heard = [r for r in results if r.gap is None and r.sent > 0]
    alive = {end for r in heard if r.received for end in (r.probe.source, r.probe.target)}
    sent: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for r in heard:
        if r.probe.source in alive and r.probe.target in alive:
            sent[r.probe.source.name][0] += r.sent
            sent[r.probe.target.name][1] += r.sent
    return alive, heard, sent


def _capped(lost: Counter[Place]) -> int:
    """Sum up losses, a few of each far device at most: one lossy device that is called again and again is no noise."""
    return sum(min(count, _OF_EACH) for count in lost.values())


def settled(results: Sequence[ProbeResult], away: Collection[str]) -> tuple[Sequence[ProbeResult], Mapping[Place, int]]:
    """Leave out what was lost with a device that worked, of a server that was lost while it probed.

    Such a server may have been off for a part of the run: its losses say when, not what. Returned beside what is left:
    its devices that this befell, with the number of calls left out. A device that never worked is left as it is.
    """
    if isinstance(results, Ledger):
        return results.settled(away)
    if not away:
        return results, {}
    worked = {end for r in results if r.received for end in (r.probe.source, r.probe.target) if end.name in away}
    kept: list[ProbeResult] = []
    shaken: Counter[Place] = Counter()
    for r in results:
        ends = [end for end in (r.probe.source, r.probe.target) if end in worked]
        if ends and r.gap is None and r.received < r.sent:
            shaken.update(ends)
        else:
            kept.append(r)
    return kept, shaken


def without(results: Sequence[ProbeResult], hosts: frozenset[str]) -> Sequence[ProbeResult]:
    """Leave out what these hosts measured."""
    if isinstance(results, Ledger):
        return results.without(hosts=hosts)
    return tuple(r for r in results if r.probe.source.name not in hosts)


def _tail(made: int, met: int, exposure: list[int]) -> float:
    """Return the chance of so many losses falling on the caller's role, were both roles hurt alike."""
    share = exposure[0] / sum(exposure)
    n, mean = made + met, (made + met) * share
    if made <= mean:
        return 1.0
    if n > 400:  # noqa: PLR2004  (beyond this the normal tail is exact enough for 1e-6)
        return 0.5 * math.erfc((made - 0.5 - mean) / math.sqrt(2 * mean * (1 - share)))
    return sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(made, n + 1))
