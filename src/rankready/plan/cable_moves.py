"""The fewest plugs to move so that every cable ends where it should (facts/mesh 10, kind 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.model.place import PlaceKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankready.model.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One plug moved: the far end of ``device``'s cable from ``origin`` to ``target``.

    ``ring``: 0, or the number of the ring of cables that change places: the last move's plug of a ring is pulled out
    before the first. ``taken``: who stands at the target and has nowhere to go by the plan.
    """

    device: Place
    origin: Place
    target: Place
    ring: int = 0
    taken: Place | None = None

    @property
    def do(self) -> Text:
        """What to do by hand."""
        origin, target = words(self.origin), words(self.target)
        taken = self.taken
        return Text(
            en=f"move the cable of {self.device} from {origin} to {target}"
            + (f", where {taken}'s is, for which no other port is planned" if taken else ""),
            zh=f"把 {self.device} 的线缆从 {origin} 移到 {target}"
            + (f"；那里接着 {taken} 的线缆，且没有为它规划其他端口" if taken else ""),
        )


def words(end: Place) -> str:
    """Write an end as one reads it at the rack: the switch, then its port."""
    return f"{end.name} {end.port}" if end.kind is PlaceKind.PORT else str(end)


def cable_moves(found: Mapping[Place, Place], expected: Mapping[Place, Place]) -> tuple[Move, ...]:
    """Return the moves in an order in which each target is free in its turn; every cable that ends wrong moves once.

    Fewer do not suffice: a cable in the wrong place must be moved. ``found`` and ``expected`` are device → far end;
    on direct fibres both name devices, and of each fibre one plug stays where it is.
    """
    ends = {far: near for near, far in found.items() if far.kind is PlaceKind.DEVICE} | dict(found)
    wrong = {d: expected[d] for d, end in ends.items() if d in expected and _differs(end, expected[d])}
    if any(end.kind is PlaceKind.DEVICE for end in wrong.values()):
        wrong = _one_end_each(ends, wrong)
    return tuple(_ordered(ends, wrong))


def _differs(end: Place, want: Place) -> bool:
    return end != want and not (want.kind is PlaceKind.LEAF and want.name == end.name)


def _one_end_each(found: Mapping[Place, Place], wrong: Mapping[Place, Place]) -> dict[Place, Place]:
    """Choose the plugs that stay: along each walk of fibre, plan, fibre, plan … those on one side of it."""
    kept: dict[Place, Place] = {}
    moved: set[Place] = set()
    for first in wrong:
        open_ = [first]
        while open_:
            device = open_.pop()
            if device not in wrong or device in kept or device in moved:
                continue
            kept[device] = wrong[device]
            moved.add(found[device])
            # the fibre that must leave the target, and the one that wants the place which becomes free
            open_ += [d for d in (found.get(wrong[device]), wrong.get(found[device])) if d is not None]
    return {device: kept[device] for device in wrong if device in kept}


def _ordered(found: Mapping[Place, Place], wrong: Mapping[Place, Place]) -> Iterator[Move]:
    """Chains, from the end whose target is free; then rings."""
    holder = {end: d for d, end in found.items()}
    leaver: dict[Place, Place] = {}  # who wants a target → who must leave it; of two who want one, the first
    waited: dict[Place, Place] = {}  # the way back
    for device, want in wrong.items():
        there = holder.get(want)
        if there is not None and there in wrong and there not in waited:
            leaver[device], waited[there] = there, device
    done: set[Place] = set()
    for start in (d for d in wrong if d not in leaver):
        for device in _chain(start, waited):
            done.add(device)
            there = holder.get(wrong[device])
            taken = None if there in wrong else there
            yield Move(device=device, origin=found[device], target=wrong[device], taken=taken)
    number = 0
    for start in wrong:
        if start not in done:
            number += 1
            members = [*_chain(waited[start], waited, last=start), start]
            done.update(members)
            yield from (Move(device=d, origin=found[d], target=wrong[d], ring=number) for d in members)


def _chain(start: Place, waited: Mapping[Place, Place], last: Place | None = None) -> Iterator[Place]:
    """Yield who moves after whom: each waits for the place that the one before has left; up to ``last``."""
    device: Place | None = start
    while device is not None and device != last:
        yield device
        device = waited.get(device)
