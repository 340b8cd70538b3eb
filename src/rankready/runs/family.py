"""Look at what devices carry in the family of the plan: a check judges addresses, whichever family they are of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.observed.device import DeviceAddress, DeviceAddressV6, DeviceGateway, DeviceGatewayV6
from rankready.model.snapshot import Gap, GapKind
from rankready.plan.mode import mode_facts
from rankready.runs.intent import ipv6
from rankready.runs.observe import observe, questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankready.model.cluster import Server
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site

_SIX: dict[type, type] = {DeviceAddress: DeviceAddressV6, DeviceGateway: DeviceGatewayV6}


async def observe_planned(site: Site, facts: Iterable[type], servers: Sequence[Server] | None = None) -> Snapshot:
    """Observe these facts; on an IPv6 plan the devices' addresses and gateways are asked for and shown as IPv6.

    Families are never mixed (facts/hccn 7.4): what a device carries of the other one is not asked. What the rules
    of the plan depend on is asked too.
    """
    facts = (*facts, *mode_facts(site.cluster))
    if not ipv6(site.cluster):
        return await observe(site, questions(facts), servers)
    return in_six(await observe(site, questions({_SIX.get(fact, fact) for fact in facts}), servers))


def in_six(snapshot: Snapshot) -> Snapshot:
    """Return the look with its IPv6 addresses and gateways also under the kinds that checks read.

    A device that can't carry the planned family is not one that need not be judged: UNSUPPORTED becomes UNKNOWN.
    """
    facts, evidence = dict(snapshot.facts), dict(snapshot.evidence)
    for plain, six in _SIX.items():
        for (place, kind), found in snapshot.facts.items():
            if kind is not six:
                continue
            facts[place, plain] = _plain(found)
            if words := snapshot.evidence.get((place, six)):
                evidence[place, plain] = words
    return replace(snapshot, facts=facts, evidence=evidence)


def _plain(found: object) -> object:
    match found:
        case DeviceAddressV6(interface=interface):
            return DeviceAddress(interface=interface)
        case DeviceGatewayV6(address=address, iface=iface):
            return DeviceGateway(address=address, iface=iface)
        case Gap(kind=GapKind.UNSUPPORTED, reason=reason):
            return Gap(reason)
        case _:
            return found
