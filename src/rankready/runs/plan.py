"""Seen versus planned: what would have to change, and what forbids it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.model.change import Plan
from rankready.model.observed.device import DeviceAddress, DeviceGateway, DeviceHeld, NetDetect
from rankready.model.observed.host import HccnConf, HccnConfText, HostAddress
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.plan.changes import changes
from rankready.plan.conflicts import conflicts
from rankready.runs.intent import intended
from rankready.runs.observe import observe, product, questions

if TYPE_CHECKING:
    from rankready.model.addressing import Address
    from rankready.model.change import Problem
    from rankready.model.cluster import Cluster
    from rankready.model.record import Record
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site

NEEDED = (DeviceAddress, DeviceGateway, NetDetect, HccnConf, HccnConfText, HostAddress, DeviceHeld)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A plan with what it was made from."""

    cluster: Cluster
    snapshot: Snapshot
    plan: Plan


async def draw(site: Site) -> Drawn:
    """Observe every device and compute the plan; raises PlanError where the rules can't be met."""
    site.say(Text(en="reading every device", zh="正在读取所有设备"))
    snapshot = await observe(site, questions(NEEDED))
    rules = product(site.cluster)
    if wrong := conflicts(site.cluster, rules, {}):  # what the user wrote is judged before anything is computed
        return Drawn(cluster=site.cluster, snapshot=snapshot, plan=Plan(problems=wrong))
    cluster = intended(site, snapshot)
    found = changes(cluster, Seen(snapshot))
    problems = conflicts(cluster, rules, cluster.addressing, hosts=_host_addresses(cluster, snapshot))
    return Drawn(cluster=cluster, snapshot=snapshot, plan=_with(found, problems))


def _with(plan: Plan, problems: tuple[Problem, ...]) -> Plan:
    return replace(plan, problems=(*plan.problems, *problems))


def _host_addresses(cluster: Cluster, snapshot: Snapshot) -> dict[str, tuple[Address, ...]]:
    seen = Seen(snapshot)
    found: dict[str, tuple[Address, ...]] = {}
    for server in cluster.servers:
        fact = seen.at(server.place, HostAddress)
        own = tuple(address for _, address in fact.addresses if not address.is_loopback) if fact else ()
        found[server.name] = (*own, *((server.address,) if server.address else ()))
    return found


def exit_of(plan: Plan) -> int:
    """1 for pending changes or problems, 3 where a device could not be read, 0 for nothing to do."""
    if plan.changes or plan.problems:
        return 1
    return 3 if plan.unread else 0


def record_of(site: Site, drawn: Drawn) -> Record:
    """Make the record of a look that changes nothing."""
    return site.record("plan", exit_of(drawn.plan), plan=drawn.plan)
