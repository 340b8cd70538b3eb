"""In which order one server's devices are set, so that none is given an address that another still carries."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_interface
from itertools import islice
from typing import TYPE_CHECKING

from rankready.model.change import What
from rankready.plan.ranges import hosts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from rankready.model.addressing import Address, Interface, Network
    from rankready.model.change import Change
    from rankready.model.place import Place

DETOUR = "exchange: through a free address"
_TRIED = 4096  # host numbers looked at for a free one

_Mine = dict["Place", list["Change"]]


def ordered(
    changes: Sequence[Change],
    carried: Mapping[Place, Address],
    taken: Collection[Address],
    closed: Collection[Network] = (),
) -> tuple[Change, ...]:
    """Return one server's changes in an order that the tool accepts, each device's own changes kept together.

    The tool refuses an address that another device of the same group carries at that moment (facts/hccn 7.3), so a
    device waits until the address is free. Devices that wait for each other are parted by one step more: the first of
    them takes a free address of its planned segment meanwhile. ``carried``: what the server's devices carry now.
    ``taken`` addresses and ``closed`` networks are never used for that; where no number is free the order is left to
    the tool, whose refusal is told.
    """
    waiting = _by_place(changes)
    holders = {address: place for place, address in carried.items()}
    spares = _Spares(taken, closed)
    found: list[Change] = []
    while waiting:
        ready = next((p for p in waiting if _free(waiting[p], p, holders)), None)
        if ready is None:
            ready = _in_a_circle(waiting, holders)
            step = None if ready is None else _detour(waiting[ready], spares)
            if ready is not None and step is not None:
                found.append(step)
                _moved(holders, ready, step)
                waiting[ready] = [_after(step, c) for c in waiting[ready]]
                continue
            ready = next(iter(waiting))
        for change in waiting.pop(ready):
            found.append(change)
            _moved(holders, ready, change)
    return tuple(found)


def _by_place(changes: Sequence[Change]) -> _Mine:
    found: _Mine = {}
    for change in changes:
        found.setdefault(change.place, []).append(change)
    return found


def _wanted(mine: Sequence[Change]) -> Address | None:
    return next((ip_interface(c.after).ip for c in mine if c.what is What.ADDRESS and c.after), None)


def _free(mine: Sequence[Change], place: Place, holders: Mapping[Address, Place]) -> bool:
    wanted = _wanted(mine)
    return wanted is None or holders.get(wanted, place) == place


def _in_a_circle(waiting: _Mine, holders: Mapping[Address, Place]) -> Place | None:
    """Follow who waits for whom until one comes twice; None where the end of it is a device that stays as it is."""
    at = next(iter(waiting))
    passed: set[Place] = set()
    while at not in passed:
        passed.add(at)
        wanted = _wanted(waiting[at])
        holder = None if wanted is None else holders.get(wanted)
        if holder is None or holder not in waiting:
            return None
        at = holder
    return at


def _detour(mine: Sequence[Change], spares: _Spares) -> Change | None:
    change = next(c for c in mine if c.what is What.ADDRESS)
    spare = spares.take(ip_interface(change.after))
    return None if spare is None else replace(change, after=str(spare), reason=DETOUR)


def _after(step: Change, change: Change) -> Change:
    return replace(change, before=step.after) if change.what is What.ADDRESS else change


def _moved(holders: dict[Address, Place], place: Place, change: Change) -> None:
    if change.what is not What.ADDRESS:
        return
    for address in [a for a, p in holders.items() if p == place]:
        del holders[address]
    if change.after:
        holders[ip_interface(change.after).ip] = place


class _Spares:
    """Free addresses of a segment, from its end: the planner gives out the lowest ones first."""

    def __init__(self, taken: Collection[Address], closed: Collection[Network]) -> None:
        self._taken = set(taken)
        self._closed = closed

    def take(self, planned: Interface) -> Interface | None:
        """Return a free address beside a planned one, or None."""
        for address in islice(_downwards(planned), _TRIED):
            if address not in self._taken and not any(address in network for network in self._closed):
                self._taken.add(address)
                return ip_interface(f"{address}/{planned.network.prefixlen}")
        return None


def _downwards(planned: Interface) -> Iterator[Address]:
    low, high = hosts(planned.network)
    kind = type(planned.ip)
    return (kind(number) for number in range(high, low - 1, -1))
