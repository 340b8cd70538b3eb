"""From probe results to who is at fault, and to who cannot be judged (facts/mesh 9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.mesh import words
from rankready.mesh.clues import Kind, gather
from rankready.mesh.collapse import leaf_place, roots_of
from rankready.mesh.direction import directions
from rankready.mesh.hygiene import noisy_hosts, settled, without
from rankready.mesh.loss import losses, survival
from rankready.mesh.standing import Standing, stand
from rankready.mesh.suspect import Accusation, Localisation
from rankready.mesh.tally import Universe, universes
from rankready.model.finding import Certainty
from rankready.model.place import server_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.mesh.clues import Clues
    from rankready.mesh.direction import Trial
    from rankready.mesh.loss import Losses
    from rankready.mesh.probe import ProbeResult
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_ORDINARY = 1e-6  # a pair is broken only if plain loss would be rarer than this (facts/mesh 9, step 8)

Judged = tuple[Universe, Standing]


def localise(
    cluster: Cluster,
    seen: Seen,
    results: Sequence[ProbeResult],
    *,
    audit: tuple[Verdict, ...] = (),
    trials: Sequence[Trial] = (),
) -> Localisation:
    """Name the parts at fault, as far as the evidence decides.

    ``seen``: facts of the devices, as far as asked; ``audit``: verdicts of the checks, as far as run. Hard faults come
    first, then whole servers and leaves, then partial loss, paths last. A call with a gap is no failed probe.
    ``trials``: what the ports of suspects counted, which tells the direction of a loss.
    """
    clues = gather(cluster, seen, audit)
    judged, slow, shaken = study(clues, results)
    accused = _directed([_explained(accusation, clues) for accusation in _accusations(judged, clues)], trials)
    accused += [
        Accusation(suspect=words.accuse(Kind.SLOW_HOST, (server_place(s),), 0, Certainty.LIKELY)) for s in sorted(slow)
    ]
    return Localisation(
        suspects=tuple(a.suspect for a in accused),
        findings=tuple(f for a in accused for f in a.findings),
        undecided={**dict(pair for u, s in judged for pair in _undecided(u, s, clues)), **_shaken(shaken)},
        reached={p: n for u, s in judged for p, n in _reached(u, s) if p not in shaken},
        slow_hosts=slow,
    )


def study(clues: Clues, results: Sequence[ProbeResult]) -> tuple[list[Judged], frozenset[str], Mapping[Place, int]]:
    """Return how devices stand, the servers that measure badly, and devices whose server was lost on the way."""
    kept, shaken = settled(results, clues.away)
    slow = noisy_hosts(kept)
    return [(u, stand(u, excused(u, clues))) for u in universes(without(kept, slow))], slow, shaken


def _shaken(devices: Mapping[Place, int]) -> dict[Place, str]:
    said = "its server was lost while it was probing"
    return {d: f"{said}: {n} calls with it lost packets, others passed" for d, n in devices.items()}


def _explained(accusation: Accusation, clues: Clues) -> Accusation:
    """Let a suspect that the audit found out be suspected of that, whatever its probes look like."""
    suspect = accusation.suspect
    device = next((p for p in suspect.places if p in clues.roots), None)
    if suspect.kind not in (Kind.LOSS, Kind.PATH, Kind.PAIR, Kind.FIBRE) or device is None:
        return accusation
    known = words.accuse(clues.kind(device), (device,), suspect.witnesses, Certainty.SURE)
    return replace(accusation, suspect=known)


def _directed(accused: list[Accusation], trials: Sequence[Trial]) -> list[Accusation]:
    ways = directions(trials)
    return [
        words.directed(a, ways[a.suspect.places[0]])
        if a.suspect.kind in (Kind.DEVICE, Kind.LOSS, Kind.PAIR, Kind.FIBRE, Kind.PATH) and a.suspect.places[0] in ways
        else a
        for a in accused
    ]


def excused(universe: Universe, clues: Clues) -> frozenset[int]:
    """Return the devices whose silence is explained: by the audit, or by a server that does not answer."""
    return frozenset(i for i, place in enumerate(universe.places) if clues.excused(place))


def _accusations(judged: Sequence[Judged], clues: Clues) -> Iterator[Accusation]:
    tested = {p for u, _ in judged for p in u.places}
    silent = {u.places[i] for u, s in judged for i in s.silent}
    islands = [tuple(u.places[i] for i in g) for u, s in judged for g in s.islands]
    roots = roots_of(clues, tested, silent, islands)
    whole = {d: place for place, (_, devices) in roots.items() for d in devices}
    for place, (kind, devices) in roots.items():
        yield words.whole(kind, place, devices, _witnesses(judged, devices))
    for universe, standing in judged:
        yield from _silent(universe, standing, clues, whole)
        yield from _islands(universe, standing, whole)
    for universe, standing in judged:
        if standing.good:
            found = losses(universe, standing.good, excused(universe, clues))
            yield from _lossy(universe, standing, found, clues.pair)
            yield from _paths(universe, found, clues)
        else:
            yield from _parted(universe, standing, clues)


def _witnesses(judged: Sequence[Judged], devices: Sequence[Place]) -> int:
    wanted = set(devices)
    return len({w for u, s in judged for i, ws in s.witnesses.items() if u.places[i] in wanted for w in ws})


def _silent(u: Universe, s: Standing, clues: Clues, whole: dict[Place, Place]) -> Iterator[Accusation]:
    for i in s.silent:
        device = u.places[i]
        kind = clues.kind(device)
        witnesses = [u.places[w] for w in s.witnesses[i]]
        found = words.silent(kind, device, witnesses, [whole[device]] if device in whole else [])
        if device in whole:
            yield Accusation(suspect=words.accuse(kind, (device,), len(witnesses), Certainty.MAYBE), findings=(found,))
        else:
            yield Accusation(suspect=words.accuse(kind, (device,), len(witnesses), Certainty.SURE), findings=(found,))


def _islands(u: Universe, s: Standing, whole: dict[Place, Place]) -> Iterator[Accusation]:
    for group in s.islands:
        members = [u.places[i] for i in group]
        witnesses = len({w for i in group for w in s.witnesses[i]})
        yield Accusation(
            suspect=words.accuse(Kind.ISLAND, members, witnesses, Certainty.SURE),
            findings=tuple(words.island(m, members, witnesses, [whole[m]] if m in whole else []) for m in members),
        )


def _lossy(u: Universe, s: Standing, found: Losses, pair: Kind) -> Iterator[Accusation]:
    for i, rate in sorted(found.rates.items()):
        partners = [u.places[j] for j in found.partners[i]]
        probed = sum(j in s.good for j in u.ties[i])
        if i in found.split:
            yield words.partly(u.places[i], partners, probed)
        else:
            yield words.lossy(u.places[i], rate, partners, probed)
    alone = len(s.good) == 2  # noqa: PLR2004  (two devices: nobody else to compare with)
    for (i, j), chance in found.strange.items():
        tie = u.ties[i][j]
        if chance < (_ORDINARY if not alone else _ORDINARY**0.5):
            yield words.lossy_pair(pair, (u.places[i], u.places[j]), tie.lost, tie.sent)


def _paths(u: Universe, found: Losses, clues: Clues) -> Iterator[Accusation]:
    sure = [(i, j) for i, j in found.silent_pairs if _impossible(u, found, i, j)]
    left = [(u.places[i], u.places[j]) for i, j in sure]
    crossing = [p for p in left if clues.leaf.get(p[0]) != clues.leaf.get(p[1]) and p[0] in clues.leaf]
    while crossing:
        count = Counter(clues.leaf[end] for pair in crossing for end in pair if end in clues.leaf)
        leaf, most = max(count.items(), key=lambda item: (item[1], item[0]))
        if most < 2:  # noqa: PLR2004  (one pair alone does not point to a leaf)
            break
        mine = [p for p in crossing if leaf in (clues.leaf.get(p[0]), clues.leaf.get(p[1]))]
        yield words.uplinks(leaf_place(leaf), mine, _crossing(u, clues, leaf))
        crossing = [p for p in crossing if p not in mine]
        left = [p for p in left if p not in mine]
    for a, b in left:
        yield words.broken(a, b)


def _impossible(u: Universe, found: Losses, i: int, j: int) -> bool:
    """Tell whether ordinary loss, with what is known of both ends, cannot have silenced this pair."""
    miss = 1 - survival(found.rates.get(i, 0.0), found.rates.get(j, 0.0))
    return bool(miss ** u.ties[i][j].sent <= _ORDINARY)


def _crossing(u: Universe, clues: Clues, leaf: str) -> int:
    inside = {i for i, p in enumerate(u.places) if clues.leaf.get(p) == leaf}
    return sum(j not in inside for i in inside for j in u.ties[i])


def _parted(u: Universe, s: Standing, clues: Clues) -> Iterator[Accusation]:
    """No majority. Groups whose faults are all known are left out; what remains may be one pair, or several groups."""
    dead = excused(u, clues)
    for i in sorted(dead):
        if not u.passing(i):
            kind, witnesses = clues.kind(u.places[i]), [u.places[j] for j in u.ties[i]]
            yield Accusation(
                suspect=words.accuse(kind, (u.places[i],), len(witnesses), Certainty.LIKELY),
                findings=(words.silent(kind, u.places[i], witnesses, []),),
            )
    unknown = [g for g in s.parts if not dead.issuperset(g)]
    groups = [g for g in unknown if len(g) > 1 or not dead.issuperset(u.ties[g[0]])]
    alone = [g[0] for g in groups if len(g) == 1]
    if len(groups) == len(alone) == 2:  # noqa: PLR2004  (a pair)
        a, b = alone
        if b in u.ties[a]:
            yield words.broken(u.places[a], u.places[b], clues.pair)
    elif len(groups) > 1:
        yield words.parted(clues.cluster.place, [[u.places[i] for i in g] for g in groups])


def _undecided(u: Universe, s: Standing, clues: Clues) -> Iterator[tuple[Place, str]]:
    dead = excused(u, clues)
    for i in s.undecided:
        count = len(s.witnesses.get(i, ()))
        yield u.places[i], f"silent, but only {count} working partners tried it; two are needed"
    for group in s.parts:
        for i in group:
            if i in dead and not u.passing(i):
                continue
            blocked = [f"{u.places[j]}" for j in u.ties[i] if j in dead]
            if len(group) > 1:
                yield u.places[i], f"its group of {len(group)} devices is no majority"
            elif len(blocked) == len(u.ties[i]):
                yield u.places[i], f"every partner of it is at fault: {', '.join(blocked)}"
            else:
                yield u.places[i], "silent, and no working partner to compare with"


def _reached(u: Universe, s: Standing) -> Iterator[tuple[Place, int]]:
    for i in sorted(s.good):
        yield u.places[i], u.ties[i].passing.bit_count()
