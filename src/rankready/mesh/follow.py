"""Which probes to make next: witnesses for the silent, mates for the lost, references for the lossy."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rankready.mesh.clues import gather
from rankready.mesh.hygiene import noisy_hosts
from rankready.mesh.ledger import Ledger
from rankready.mesh.localise import excused, study
from rankready.mesh.loss import losses
from rankready.mesh.reach import may_probe, probe
from rankready.mesh.standing import WITNESSES

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from rankready.kind.product import Product
    from rankready.mesh.clues import Clues
    from rankready.mesh.probe import Probe, ProbeResult
    from rankready.mesh.standing import Standing
    from rankready.mesh.tally import Universe
    from rankready.model.cluster import Cluster
    from rankready.model.finding import Verdict
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_CALLERS = 3  # facts/mesh 9, step 3
_JOIN = 64  # step 4
_REFERENCES = 4  # step 7
_CALLS = 12  # calls on one suspect in one wave; 46 clear it (facts/mesh 7), three waves bring 36
_PACKETS = 9  # a silent pair is believed after three calls
_CONVICTED, _CLEARED = 30.0, -6.91  # log-likelihood beyond which more packets change nothing
_LOST, _RECEIVED = 3.91, -0.0503
_DOUBT = 1e-2  # by chance; a host that loses its own calls makes no reference


def follow_up(
    cluster: Cluster,
    product: Product,
    seen: Seen,
    results: Sequence[ProbeResult],
    *,
    audit: tuple[Verdict, ...] = (),
) -> tuple[Probe, ...]:
    """Return the probes that would decide what is still open; empty when there is nothing to gain.

    Call it with all results so far, make the probes, add their results, and call it again: three times is enough.
    """
    clues = gather(cluster, seen, audit)
    judged, _slow, _shaken = study(clues, results)
    good = [u.places[i] for u, s in judged for i in sorted(s.good)]
    wave = _Wave(product, clues, good, made=_made(results), doubted=noisy_hosts(results, _DOUBT))
    wanted: list[Probe] = []
    for universe, standing in judged:
        wanted += wave.witnesses(universe, standing)
        wanted += wave.mates(universe, standing)
        wanted += wave.confirm(universe, standing)
    return tuple(wanted)


class _Wave:
    """Candidates by network, so that a caller is found without looking at every device."""

    def __init__(
        self,
        product: Product,
        clues: Clues,
        good: Iterable[Place],
        *,
        made: Callable[[Place, Place], bool],
        doubted: frozenset[str],
    ) -> None:
        self.cluster, self.product, self.clues, self.made = clues.cluster, product, clues, made
        self.doubted = doubted
        self.good: dict[Hashable, list[Place]] = defaultdict(list)
        for device in good:
            planned = clues.cluster.planned(device)
            if planned is not None:
                self.good[planned.interface.network].append(device)

    def witnesses(self, u: Universe, s: Standing) -> Iterator[Probe]:
        """Let good devices, of its own leaf first, call each silent device that has too few witnesses."""
        dead = excused(u, self.clues)
        few = [i for i, w in s.witnesses.items() if len(w) < WITNESSES]
        lonely = [i for g in s.parts for i in g if len(g) == 1]
        for i in (*few, *lonely):
            if i not in dead:
                for caller in self._callers(u.places[i], _CALLERS):
                    yield probe(self.cluster, caller, u.places[i])

    def mates(self, u: Universe, s: Standing) -> Iterator[Probe]:
        """Let the silent of one universe, and one of each island, call each other.

        A group in a wrong VLAN looks like many dead devices, or like several islands.
        """
        known = excused(u, self.clues)
        lone = [i for i in s.silent if i not in known]
        silent = [u.places[i] for i in sorted((*lone, *(group[0] for group in s.islands)))]
        for n, a in enumerate(silent[:_JOIN]):
            for b in silent[n + 1 : _JOIN]:
                if not self._known(a, b) and may_probe(self.cluster, self.product, a, b):
                    yield probe(self.cluster, a, b)

    def confirm(self, u: Universe, s: Standing) -> Iterator[Probe]:
        """Probe devices that may be lossy from references that are not, and silent pairs once more."""
        if not s.good:
            return
        known = excused(u, self.clues)
        found = losses(u, s.good, known)
        open_ = dict.fromkeys(
            (*(i for i in found.rates if i not in known), *(i for pair in found.strange for i in pair))
        )
        others = [i for i in sorted(s.good - known) if i not in open_]
        able = [i for i in others if u.places[i].name not in self.doubted] or others
        references = [i for i in able if u.lossless(i)] or able
        for i in open_:
            if not self._settled(u, i, set(references)):
                yield from self._sample(u, i, references)
        for i, j in found.silent_pairs:
            if u.ties[i][j].sent < _PACKETS:
                yield from [probe(self.cluster, u.places[i], u.places[j])] * 2

    def _sample(self, u: Universe, suspect: int, references: Sequence[int]) -> Iterator[Probe]:
        device = u.places[suspect]
        leaf = self.clues.leaf.get(device)
        able = [u.places[r] for r in references if may_probe(self.cluster, self.product, u.places[r], device)]
        able = sorted(able, key=lambda p: self.clues.leaf.get(p) != leaf)[suspect % 2 :] if len(able) > 1 else able
        chosen = able[:_REFERENCES] or [u.places[j] for j in u.ties[suspect]][:_REFERENCES]
        for n in range(_CALLS if chosen else 0):
            yield probe(self.cluster, chosen[n % len(chosen)], device)

    def _settled(self, u: Universe, suspect: int, references: set[int]) -> bool:
        ties = [t for j, t in u.ties[suspect].items() if j in references]
        score = sum(_LOST * t.lost + _RECEIVED * t.received for t in ties)
        return not _CLEARED < score < _CONVICTED

    def _callers(self, device: Place, count: int) -> list[Place]:
        planned = self.cluster.planned(device)
        if planned is None:
            return []
        leaf = self.clues.leaf.get(device)
        able = [
            g
            for g in self.good[planned.interface.network]
            if not self._known(g, device) and may_probe(self.cluster, self.product, g, device)
        ]
        return sorted(able, key=lambda g: (self.clues.leaf.get(g) != leaf, g.name == device.name))[:count]

    def _known(self, a: Place, b: Place) -> bool:
        return self.made(a, b)


def _made(results: Sequence[ProbeResult]) -> Callable[[Place, Place], bool]:
    """Return what tells whether two devices have been probed, or were planned to be."""
    if isinstance(results, Ledger):
        return results.tried
    made = {(r.probe.source, r.probe.target) for r in results}
    return lambda a, b: (a, b) in made or (b, a) in made
