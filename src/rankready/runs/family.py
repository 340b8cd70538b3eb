"""Look at what devices carry in the family of the plan: a check judges addresses, whichever family they are of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.model.observed.chips import NpuWorkMode
from rankready.model.observed.device import DeviceAddress, DeviceAddressV6, DeviceGateway, DeviceGatewayV6
from rankready.model.snapshot import Gap, GapKind, Snapshot
from rankready.plan.mode import mode_facts
from rankready.runs.intent import ipv6
from rankready.runs.observe import observe, product, questions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankready.model.cluster import Server
    from rankready.runs.site import Site

_NO_MATTER = Gap(
    "not asked: the plan does not depend on the work mode", GapKind.UNSUPPORTED, "未询问：规划与工作模式无关"
)
_SIX: dict[type, type] = {DeviceAddress: DeviceAddressV6, DeviceGateway: DeviceGatewayV6}


async def observe_planned(site: Site, facts: Iterable[type], servers: Sequence[Server] | None = None) -> Snapshot:
    """Observe these facts; on an IPv6 plan the devices' addresses and gateways are asked for and shown as IPv6.

    Families are never mixed (facts/hccn 7.4): what a device carries of the other one is not asked. Nor is the work mode
    of servers whose plan is legal in both.
    """
    wanted, left_out = set(facts), Snapshot()
    if NpuWorkMode in wanted and NpuWorkMode not in mode_facts(site.cluster, product(site.cluster)):
        wanted.remove(NpuWorkMode)
        places = (s.place for s in (site.cluster.servers if servers is None else servers))
        left_out = Snapshot(facts=dict.fromkeys(((place, NpuWorkMode) for place in places), _NO_MATTER))
    if ipv6(site.cluster):
        wanted = {_SIX.get(fact, fact) for fact in wanted}
    snapshot = await observe(site, questions(wanted), servers) if wanted else Snapshot()
    return in_six(snapshot).merged(left_out) if ipv6(site.cluster) else snapshot.merged(left_out)


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
        case Gap(kind=GapKind.UNSUPPORTED):
            return replace(found, kind=GapKind.UNKNOWN)
        case _:
            return found
