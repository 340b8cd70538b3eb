"""Who stands with the majority, who is silent, who is cut off with others, and who cannot be judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.mesh.tally import components

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.mesh.tally import Universe

WITNESSES = 2  # facts/mesh 8, I1


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How the devices of one universe stand (facts/mesh 9, steps 2 to 4).

    ``good``: the group that holds the majority; empty when there is none, then ``parts`` are the groups that do not
    reach each other. ``silent``: reached by nobody, with at least two good witnesses. ``islands``: reach each other but
    not the majority. ``undecided``: too few witnesses. ``witnesses``: who of the good ones tried in vain.
    """

    good: frozenset[int] = frozenset()
    silent: tuple[int, ...] = ()
    islands: tuple[tuple[int, ...], ...] = ()
    undecided: tuple[int, ...] = ()
    parts: tuple[tuple[int, ...], ...] = ()
    witnesses: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def stand(universe: Universe, excused: frozenset[int] = frozenset()) -> Standing:
    """Judge each device of a universe by who reaches it. ``excused`` ones have a fault that is known already.

    Good is who belongs to the largest connected group, if that holds more than half of all devices that are not
    excused; a majority of one is none. Without it nobody is blamed (facts/mesh 8, I2).
    """
    groups = components(universe.ties, passed=True)
    counted = [i for i in range(len(universe.places)) if i not in excused or universe.passing(i)]
    largest = max(groups, key=lambda g: (len(g), -g[0]))
    if len(largest) < 2 or 2 * len(largest) <= len(counted):  # noqa: PLR2004  (a majority of one is none)
        return Standing(parts=groups)
    good = frozenset(largest)
    others = [g for g in groups if g is not largest]
    witnesses = {
        i: tuple(j for j, t in universe.ties[i].items() if j in good and not t.passed) for g in others for i in g
    }
    silent: list[int] = []
    islands: list[tuple[int, ...]] = []
    undecided: list[int] = []
    for group in others:
        against = {w for i in group for w in witnesses[i]}
        if len(group) == 1 and (len(against) >= WITNESSES or (group[0] in excused and against)):
            silent.append(group[0])
        elif len(group) > 1 and len(against) >= WITNESSES:
            islands.append(group)
        else:
            undecided.extend(group)
    return Standing(
        good=good,
        silent=tuple(silent),
        islands=tuple(islands),
        undecided=tuple(undecided),
        witnesses=witnesses,
    )
