"""Which way packets are lost between two devices, told by what both ports counted while a burst of them was sent."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.mesh.clues import Kind
from rankready.mesh.reach import may_probe
from rankready.mesh.suspect import Direction, Way
from rankready.model.finding import Certainty
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankready.kind.product import Product
    from rankready.mesh.suspect import Localisation, Suspect
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place

_PACKETS = 3  # of one call (facts/mesh 1)
_FEWEST, _MOST = 8, 48  # calls of one burst
_LOST = 48  # packets that a trial is to lose, so that neither chance nor other traffic can turn the answer
_ROUNDS = 4  # of trials at most, where there are fewer references than suspects
_ENOUGH = 6  # lost packets below which nothing is said
_SHARE = 0.7  # of the lost packets that must have gone one way
_CHANCE = 5e-3  # of so many on one side by chance
_DEVIATIONS = 1.5  # by which other traffic may have been more in one burst than in the other
_ARRIVED = 0.5  # of the other way's packets that must have been counted: nothing is concluded from silence alone


Frames = tuple[int, int]
"""What a port counted at one moment: frames sent, frames received."""

Call = tuple[int, int]
"""Packets sent and echoes received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A suspect, who is to exchange packets with it, and the calls each way."""

    suspect: Place
    reference: Place
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Packets sent one after another and their echoes, and what the ports counted from before to after.

    ``went``: frames that the caller's port sent, ``came``: frames that the target's port received, ``back``: frames
    that the caller's port received. None: not counted there.
    """

    sent: int
    received: int
    went: int | None = None
    came: int | None = None
    back: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A burst from the reference to the suspect (``there``), then one from the suspect to the reference."""

    suspect: Place
    reference: Place
    there: Burst
    back: Burst


def watches(cluster: Cluster, product: Product, where: Localisation) -> tuple[tuple[Watch, ...], ...]:
    """Return the trials that would tell the direction of each loss, in rounds: no device takes part in two of one.

    Only suspects that no other fact explains are tried. A reference is a device that stands with the majority and is
    no suspect itself; the two ends of a pair are each other's.
    """
    suspected = {p for s in where.suspects for p in s.places}
    clean: dict[object, list[Place]] = defaultdict(list)
    for device in where.reached:
        if device not in suspected and (planned := cluster.planned(device)) is not None:
            clean[planned.interface.network].append(device)
    rounds: list[list[Watch]] = [[] for _ in range(_ROUNDS)]
    busy: list[set[Place]] = [set() for _ in range(_ROUNDS)]
    for suspect in where.suspects:
        for device, able in _couples(cluster, product, suspect, clean):
            for made, taken in zip(rounds, busy, strict=True):
                reference = None if device in taken else next((r for r in able if r not in taken), None)
                if reference is not None:
                    made.append(Watch(suspect=device, reference=reference, calls=_calls(suspect.rate)))
                    taken |= {device, reference}
                    break
    return tuple(tuple(made) for made in rounds if made)


def _couples(
    cluster: Cluster, product: Product, suspect: Suspect, clean: dict[object, list[Place]]
) -> Iterator[tuple[Place, list[Place]]]:
    """Yield whom to try and with whom, nearest rail first."""
    match suspect.kind:
        case Kind.PAIR | Kind.PATH | Kind.FIBRE:
            yield suspect.places[0], [suspect.places[-1]]
        case Kind.DEVICE | Kind.LOSS if suspect.certainty is not Certainty.MAYBE:  # else its server is the answer
            (device,) = suspect.places
            planned = cluster.planned(device)
            able = clean[planned.interface.network] if planned is not None else []
            fit = [r for r in able if r.name != device.name and may_probe(cluster, product, r, device)]
            yield device, sorted(fit, key=lambda r: r.device != device.device)
        case _:
            return


def _calls(rate: float) -> int:
    return min(_MOST, max(_FEWEST, math.ceil(_LOST / (2 * _PACKETS * max(rate, 0.01)))))


def unsettled(rounds: Iterable[Sequence[Watch]], trials: Iterable[Trial]) -> tuple[tuple[Watch, ...], ...]:
    """Return the trials worth making once more: other traffic or chance hid the answer, and may not do so again."""
    open_ = {s for s, d in directions(trials).items() if d.way is Way.UNKNOWN and d.why in (_FEW, _NEITHER)}
    again = (tuple(w for w in watched if w.suspect in open_) for watched in rounds)
    return tuple(watched for watched in again if watched)


def directions(trials: Iterable[Trial]) -> dict[Place, Direction]:
    """Judge each trial; by suspect, of which the last one stands."""
    return {t.suspect: direction(t) for t in trials}


def direction(trial: Trial) -> Direction:
    """Tell where packets were lost, from both bursts (facts/mesh 8, I7).

    Frames that a port received beyond the echoes of its own burst are other traffic: as many are taken off what it
    received in the other burst, and how much they may have varied is granted to the other way. A way is named only
    where the other way's packets were counted as arrived.
    """
    if any(n is None for b in (trial.there, trial.back) for n in (b.went, b.came, b.back)):
        return Direction(way=Way.UNKNOWN, reference=trial.reference, why=_UNREAD)
    return _judged(trial, trial.there, trial.back)


def _judged(trial: Trial, there: Burst, back: Burst) -> Direction:
    left, other = _left(there), _left(back)
    noise, far_noise = _noise(back), _noise(there)
    arrived, far_arrived = _arrived(there, noise), _arrived(back, far_noise)
    towards = (left - arrived) + max(0, far_arrived - back.received)
    away = max(0, arrived - there.received) + (other - far_arrived)
    found = Direction(way=Way.UNKNOWN, reference=trial.reference, towards=towards, away=away)
    doubt = round(_DEVIATIONS * math.sqrt(noise + far_noise))
    if left < max(1, there.received) or other < max(1, back.received):
        return replace(found, why=_UNCOUNTED)
    if towards + away < _ENOUGH:
        return replace(found, why=_FEW)
    if _one_sided(towards - doubt, away + doubt) and far_arrived >= _ARRIVED * other:
        return replace(found, way=Way.TOWARDS)
    if _one_sided(away - doubt, towards + doubt) and arrived >= _ARRIVED * left:
        return replace(found, way=Way.FROM)
    both = 4 * min(towards, away) >= towards + away
    return replace(found, way=Way.BOTH) if both else replace(found, why=_NEITHER)


def _left(burst: Burst) -> int:
    """Return how many packets left the caller: one that can't learn a hardware address sends fewer, or none."""
    return min(burst.sent, burst.went or 0)


def _noise(burst: Burst) -> int:
    """Return the frames that the caller's port received beyond its echoes."""
    return max(0, (burst.back or 0) - burst.received)


def _arrived(burst: Burst, noise: int) -> int:
    """Return how many packets the target's port counted, other traffic taken off."""
    left = _left(burst)
    return max(min(burst.received, left), min(left, (burst.came or 0) - noise))


def _one_sided(most: int, least: int) -> bool:
    total = most + least
    if most < _SHARE * total:
        return False
    by_chance: float = 2 * sum(math.comb(total, k) for k in range(most, total + 1)) / 2**total
    return by_chance < _CHANCE


_UNREAD = Text(en="the counters can't be read", zh="无法读取计数")
_UNCOUNTED = Text(en="the counters do not count these packets", zh="计数未包含这些报文")
_FEW = Text(en="too few packets were lost while the counters were watched", zh="观察计数期间丢失的报文太少")
_NEITHER = Text(en="what was counted fits neither way alone", zh="计数与任一方向都不吻合")


def trial(watch: Watch, readings: Sequence[Mapping[Place, Frames]], calls: Sequence[Iterable[Call]]) -> Trial:
    """Make a trial of its two bursts' calls and the counters before, between and after them."""
    ends = (watch.reference, watch.suspect)
    bursts = []
    for n, (caller, target) in enumerate((ends, ends[::-1])):
        before, after = readings[n], readings[n + 1]
        made = tuple(calls[n])
        bursts.append(
            Burst(
                sent=sum(sent for sent, _ in made),
                received=sum(received for _, received in made),
                went=_grown(before, after, caller, 0),
                came=_grown(before, after, target, 1),
                back=_grown(before, after, caller, 1),
            )
        )
    return Trial(suspect=watch.suspect, reference=watch.reference, there=bursts[0], back=bursts[1])


def _grown(before: Mapping[Place, Frames], after: Mapping[Place, Frames], port: Place, which: int) -> int | None:
    """Return the growth; None where either reading is not known, or the counter was reset in between."""
    if port not in before or port not in after or after[port][which] < before[port][which]:
        return None
    return after[port][which] - before[port][which]
