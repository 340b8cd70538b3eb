"""Seen versus planned: what would have to change, and what forbids it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rankready.model.change import Plan
from rankready.model.observed.device import (
    DeviceAddress,
    DeviceAddressV6,
    DeviceGateway,
    DeviceGatewayV6,
    DeviceHeld,
    NetDetect,
)
from rankready.model.observed.host import Chips, HccnConf, HccnConfText, HostAddress
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.plan.changes import changes
from rankready.plan.conflicts import conflicts
from rankready.plan.mode import by_mode, mode_facts
from rankready.runs.answering import Asked, who_answers
from rankready.runs.intent import NO_TARGET, addressed, ipv6, targets_left_out
from rankready.runs.journal import unfinished
from rankready.runs.observe import observe, product, questions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.addressing import Address, Interface
    from rankready.model.change import Problem
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.model.record import Record
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site


UNFINISHED = Text(
    en="the last apply did not end as planned: rankready apply --continue goes on, rankready undo puts back",
    zh="上次 apply 未按规划完成：rankready apply --continue 继续，rankready undo 恢复",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A plan with what it was made from; ``asked``: how many of its new addresses were asked for on the network."""

    cluster: Cluster
    snapshot: Snapshot
    plan: Plan
    asked: Asked = field(default_factory=Asked)


def carried_facts(cluster: Cluster) -> tuple[type, ...]:
    """Return the kinds of facts that a plan compares and an apply reads back, by the family of the plan."""
    own = (DeviceAddressV6, DeviceGatewayV6) if ipv6(cluster) else (DeviceAddress, DeviceGateway)
    return (*own, NetDetect, HccnConf, HccnConfText)


async def draw(site: Site, meant: Mapping[Place, Interface] | None = None) -> Drawn:
    """Observe every device and compute the plan; raises PlanError where the rules can't be met.

    ``meant``: what an unfinished apply was to set, kept before everything else that the user did not write.
    """
    site.say(Text(en="reading every device", zh="正在读取所有设备"))
    facts = (*carried_facts(site.cluster), *mode_facts(site.cluster, product(site.cluster)))
    snapshot = await observe(site, questions((DeviceAddress, *facts, HostAddress, DeviceHeld, Chips)))
    rules = by_mode(product(site.cluster), site.cluster, Seen(snapshot))
    if wrong := conflicts(site.cluster, rules, {}):  # what the user wrote, before anything is computed
        return Drawn(cluster=site.cluster, snapshot=snapshot, plan=Plan(problems=wrong))
    cluster = addressed(site, snapshot, rules, meant)
    found = changes(cluster, Seen(snapshot))
    asked = await who_answers(site, cluster, snapshot, found)
    hosts = host_addresses(cluster, snapshot)
    problems = conflicts(cluster, rules, cluster.addressing, hosts=hosts, answering=asked.answering)
    return Drawn(cluster=cluster, snapshot=snapshot, plan=_with(found, problems), asked=asked)


def _with(plan: Plan, problems: tuple[Problem, ...]) -> Plan:
    return replace(plan, problems=(*plan.problems, *problems))


def host_addresses(cluster: Cluster, snapshot: Snapshot) -> dict[str, tuple[Address, ...]]:
    """Return the servers' own addresses: those on their interfaces now, and the one in cluster.yaml."""
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
    open_apply = unfinished(site.home)
    notes = [*([] if open_apply is None else [UNFINISHED]), *([NO_TARGET] if targets_left_out(site.cluster) else [])]
    extra = {"asked": drawn.asked.told(), "unfinished": str(open_apply) if open_apply else None, "notes": notes}
    return site.record("plan", exit_of(drawn.plan), plan=drawn.plan, extra=extra)
