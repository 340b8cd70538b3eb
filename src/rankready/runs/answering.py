"""Whether someone who is no device of ours answers at an address that is about to be given (facts/hccn 7.5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from ipaddress import ip_interface
from typing import TYPE_CHECKING

from rankready.model.change import What
from rankready.model.observed.device import DeviceAddress, DeviceAddressV6, DeviceHeld
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs.script import ask
from rankready.tools.hccn_tool import ping, read_ping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.kind.transport import Session
    from rankready.model.addressing import Address, Interface, Network
    from rankready.model.change import Plan
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site

MOST_EACH = 2  # a silent address costs a device the whole wait of three packets (facts/hccn 11)
WAIT_S = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """``new`` addresses that nobody of ours carries; how many were ``asked`` for, and which were answered, by whom."""

    new: int = 0
    asked: int = 0
    answering: Mapping[Address, str] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        """The record's own words for it."""
        return {"new": self.new, "asked": self.asked, "answered": [str(a) for a in self.answering]}


Calls = dict["Place", list["Address"]]


async def who_answers(site: Site, cluster: Cluster, snapshot: Snapshot, plan: Plan) -> Asked:
    """Ping planned new addresses from devices that already live in their segment and are free; bounded by device.

    On a blank cluster nobody lives anywhere yet, so nothing can be asked: ``asked`` tells.
    """
    seen = Seen(snapshot)
    ours: set[Address] = {fact.interface.ip for _, fact in seen.each(DeviceAddress)}
    ours |= {fact.interface.ip for _, fact in seen.each(DeviceAddressV6)}
    wanted = [ip_interface(c.after) for c in plan.changes if c.what is What.ADDRESS]
    new = [interface for interface in dict.fromkeys(wanted) if interface.ip not in ours]
    free = _free_by_network(cluster, seen)
    calls = _shared_out(new, free)
    count = sum(len(addresses) for addresses in calls.values())
    if not count:
        return Asked(new=len(new))
    site.say(
        Text(
            en=f"asking for {count} of {len(new)} new addresses on the network",
            zh=f"正在网络上探询 {len(new)} 个新地址中的 {count} 个",
        )
    )
    return Asked(new=len(new), asked=count, answering=dict.fromkeys(await _pinged(site, calls), ""))


def _free_by_network(cluster: Cluster, seen: Seen) -> dict[Network, list[Place]]:
    """Devices by the network that they live in now; those that a job holds are left in peace."""
    found: dict[Network, list[Place]] = {}
    for place in cluster.devices():
        held = seen.at(place, DeviceHeld)
        fact = seen.at(place, DeviceAddress) or seen.at(place, DeviceAddressV6)
        if fact is not None and held is not None and not held.held:
            found.setdefault(fact.interface.network, []).append(place)
    return found


def _shared_out(new: Iterable[Interface], free: Mapping[Network, list[Place]]) -> Calls:
    """Spread the addresses of a segment over its devices, so that each has as few as may be and at most a few."""
    calls: Calls = {}
    given: dict[Network, int] = {}
    for interface in new:
        devices = free.get(interface.network, [])
        number = given.get(interface.network, 0)
        if number < MOST_EACH * len(devices):
            calls.setdefault(devices[number % len(devices)], []).append(interface.ip)
            given[interface.network] = number + 1
    return calls


async def _pinged(site: Site, calls: Calls) -> list[Address]:
    by_server: dict[str, Calls] = {}
    for place, addresses in calls.items():
        by_server.setdefault(place.name, {})[place] = addresses

    async def one(server: Server, session: Session) -> list[Address]:
        pairs = [(p, a) for p, addresses in by_server[server.name].items() for a in addresses]
        commands = [replace(ping(p.device, a), timeout_s=WAIT_S) for p, a in pairs]
        replies = await ask(session, commands)
        told = ((a, read_ping(reply)) for (_, a), reply in zip(pairs, replies, strict=True))
        return [a for a, fact in told if not isinstance(fact, Gap) and fact.received]

    answers = await site.fleet.each(one, [s for s in site.cluster.servers if s.name in by_server])
    return [a for found in answers.values() if not isinstance(found, Gap) for a in found]
