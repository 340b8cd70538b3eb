"""Segments cut from the pool: how wide, where, and what would do when the pool is too small."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from rankready.model.change import Problem
from rankready.model.text import Text
from rankready.plan.ranges import Spans, ends, hosts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankready.model.addressing import Network
    from rankready.model.place import Place

_DEFAULT = {4: 24, 6: 64}
_LOOKED_AT = 4096  # places in the pool, for a message: enough for any pool that is too small


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What is asked of a pool: free addresses by segment number; host number of each segment's gateway.

    ``closed`` are numbers that can't be given, ``picky`` those and the ones we would not pick; ``standing`` are
    segments that devices live in already, by number.
    """

    pool: Network
    prefix: int | None
    gateway: int | None
    needs: Mapping[int, int]
    closed: Spans
    picky: Spans
    standing: Mapping[int, Network]
    avoid: tuple[Network, ...] = ()  # the segments that the user listed


def room(network: Network, closed: Spans, gateway: int | None) -> int:
    """Count the addresses of a network that devices can be given; 0 where the gateway has no place in it."""
    low, high = hosts(network)
    free = high - low + 1 - closed.count(low, high)
    if gateway is None:
        return free
    number = ends(network)[0] + gateway
    if not low <= number <= high:
        return 0
    return free if closed.holds(number) else free - 1


def cut(demand: Demand) -> dict[int, Network] | None:
    """Return a segment for each number, or None when the pool is too small.

    Where devices live already, that stays if it is inside the pool, wide enough and apart from the others; what is
    missing is cut at the lowest place, with the prefix asked for, else /24 (IPv4) or /64 (IPv6), else the smallest
    segment that fits, else the widest that the pool can hold.
    """
    kept = _kept(demand)
    prefixes = _prefixes(demand)
    if kept and demand.prefix is None:
        prefixes = (min(n.prefixlen for n in kept.values()), *prefixes)
    for stay in (kept, {}) if kept else ({},):
        for prefix in prefixes:
            found = _cut_at(demand, prefix, stay)
            if found is not None:
                return found
    return None


def shortage(demand: Demand, place: Place) -> Problem:
    """Say how many addresses are needed, how many are there, and the smallest pool that would do."""
    wanted = _smallest_segment(demand, max(demand.needs.values()))
    if wanted is None:
        return Problem(
            rule="gateway_outside_segment",
            places=(place,),
            message=f"gateway: host number {demand.gateway} is no host of any segment of {demand.pool}",
            zh=f"网关：主机号 {demand.gateway} 不是 {demand.pool} 任何网段的主机地址",
        )
    numbers, remedy = _numbers(demand), _would_do(demand, wanted)
    return Problem(
        rule="too_few_addresses",
        places=(place,),
        message=f"{numbers.en}; {remedy.en} would do",
        zh=f"{numbers.zh}；{remedy.zh}即可",
    )


def _numbers(demand: Demand) -> Text:
    count, need = len(demand.needs), max(demand.needs.values())
    widest = demand.pool.prefixlen + (count - 1).bit_length() if demand.prefix is None else demand.prefix
    there = _room_of_each(demand, widest)
    pool = str(demand.pool) if demand.prefix is None else f"{demand.pool} (prefix {demand.prefix})"
    return Text(
        en=f"{pool} is too small: {count} x {need} = {count * need} device addresses are needed, "
        f"{count} x {there} = {count * there} are there",
        zh=f"{pool} 太小：需要 {count} x {need} = {count * need} 个设备地址，"
        f"仅有 {count} x {there} = {count * there} 个",
    )


def _would_do(demand: Demand, wanted: int) -> Text:
    pool, bits = demand.pool, (len(demand.needs) - 1).bit_length()
    narrow = demand.prefix is not None and wanted < demand.prefix
    segment = wanted if demand.prefix is None or narrow else demand.prefix
    size = min(segment - bits, pool.prefixlen)
    if narrow:
        return Text(en=f"prefix {wanted} in a /{size} pool", zh=f"前缀 {wanted}、/{size} 地址池")
    closed = demand.picky.count(*ends(pool))
    if size >= pool.prefixlen and closed:
        return Text(
            en=f"{closed} of its addresses are reserved or in use, a /{size} pool without those",
            zh=f"其中 {closed} 个保留或已占用，不含这些地址的 /{size} 地址池",
        )
    return Text(en=f"a /{size} pool", zh=f"/{size} 地址池")


def _prefixes(demand: Demand) -> tuple[int, ...]:
    pool = demand.pool
    if demand.prefix is not None:
        return (demand.prefix,)
    usual = max(_DEFAULT[pool.version], pool.prefixlen)
    wider = range(usual, pool.prefixlen - 1, -1)
    narrower = range(usual + 1, pool.max_prefixlen - 1)
    return (*wider, *narrower)


def _kept(demand: Demand) -> dict[int, Network]:
    """Segments that devices live in and that may stay."""
    kept: dict[int, Network] = {}
    for number, need in sorted(demand.needs.items()):
        network = demand.standing.get(number)
        if network is None or network.version != demand.pool.version:
            continue
        first, last = ends(network)
        low, high = ends(demand.pool)
        fits = low <= first and last <= high and room(network, demand.closed, demand.gateway) >= need
        asked = demand.prefix is None or demand.prefix == network.prefixlen
        if fits and asked and not _meets(first, last, (*kept.values(), *demand.avoid)):
            kept[number] = network
    return kept


def _cut_at(demand: Demand, prefix: int, stay: Mapping[int, Network]) -> dict[int, Network] | None:
    if prefix < demand.pool.prefixlen or _best_room(demand, prefix) < max(demand.needs.values()):
        return dict(stay) if len(stay) == len(demand.needs) else None
    blanks = _blanks(demand, prefix, (*stay.values(), *demand.avoid))
    found: dict[int, Network] = {}
    for number, need in sorted(demand.needs.items()):
        if number in stay:
            found[number] = stay[number]
            continue
        network = next((n for n in blanks if room(n, demand.picky, demand.gateway) >= need), None)
        if network is None:
            return None
        found[number] = network
    return found


def _blanks(demand: Demand, prefix: int, avoid: Iterable[Network]) -> Iterator[Network]:
    """Yield the pool's networks of one prefix, lowest first, without those that are closed as a whole."""
    pool = demand.pool
    size = 1 << (pool.max_prefixlen - prefix)
    at, end = ends(pool)
    taken = sorted(ends(n) for n in avoid)
    while at + size - 1 <= end:
        beyond = max((last + 1 for first, last in taken if first < at + size and last >= at), default=at)
        beyond = max(beyond, demand.picky.next_open(at))
        if beyond >= at + size:
            at = beyond - beyond % size
        elif beyond > at and _meets(at, at + size - 1, avoid):
            at += size
        else:
            yield type(pool)((at, prefix))
            at += size


def _best_room(demand: Demand, prefix: int) -> int:
    """Count what an otherwise empty segment of this prefix holds."""
    pool = demand.pool
    return room(type(pool)((0, prefix)), Spans((), (), ()), demand.gateway)


def _room_of_each(demand: Demand, prefix: int) -> int:
    """Count what the best places in the pool hold, one for each segment that is needed: the least of them."""
    pool, count = demand.pool, len(demand.needs)
    if not pool.prefixlen <= prefix <= pool.max_prefixlen - 2:
        return 0
    places = islice(_blanks(demand, prefix, demand.avoid), _LOOKED_AT)
    rooms = sorted((room(network, demand.picky, demand.gateway) for network in places), reverse=True)
    return rooms[count - 1] if len(rooms) >= count else 0


def _smallest_segment(demand: Demand, need: int) -> int | None:
    top = demand.pool.max_prefixlen
    return next((p for p in range(top - 2, -1, -1) if _best_room(demand, p) >= need), None)


def _meets(first: int, last: int, networks: Iterable[Network]) -> bool:
    return any(low <= last and first <= high for low, high in map(ends, networks))
