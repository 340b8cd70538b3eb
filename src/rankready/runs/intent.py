"""What the devices should carry: the rules, given what was last applied and what stands there now."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from ipaddress import ip_interface
from typing import TYPE_CHECKING

from rankready.model.cluster import NetDetectPolicy
from rankready.model.errors import ConfigError, Mistake, PlanError
from rankready.model.observed.device import DeviceAddress, DeviceAddressV6
from rankready.model.observed.host import HostAddress
from rankready.model.place import parse_place
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.plan.conflicts import conflicts
from rankready.plan.intent import planned
from rankready.plan.mode import for_a_look
from rankready.runs.observe import product

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankready.kind.product import Product
    from rankready.model.addressing import Address, Interface
    from rankready.model.cluster import Cluster
    from rankready.model.place import Place
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site


def intended(site: Site, snapshot: Snapshot) -> Cluster:
    """Return the cluster with the addressing by which a look is judged; raises PlanError where no rules can be met."""
    rules = for_a_look(product(site.cluster), site.cluster)
    if wrong := conflicts(site.cluster, rules, {}):
        raise PlanError(
            "\n".join(f"{p.rule}: {', '.join(str(x) for x in p.places)}: {p.message}\n{p.zh}" for p in wrong)
        )
    return addressed(site, snapshot, rules)


def addressed(
    site: Site, snapshot: Snapshot, rules: Product, meant: Mapping[Place, Interface] | None = None
) -> Cluster:
    """Return the cluster with its addressing by these rules; raises PlanError where they can't be met.

    ``meant``: what an unfinished apply was to set; it goes before what was last applied and what stands there now.
    """
    fact = _address_fact(site.cluster)
    live: dict[Place, Interface] = {place: found.interface for place, found in Seen(snapshot).each(fact)}
    applied = {**last_applied(site.home), **(meant or {})}
    return _settable(planned(site.cluster, rules, applied=applied, live=live, avoid=_taken(site, snapshot)))


def ipv6(cluster: Cluster) -> bool:
    """Tell whether the plan is of IPv6; families are never mixed (facts/hccn 7.4)."""
    plane = cluster.parameter_plane
    written = (*((plane.pool,) if plane.pool else ()), *(s.network for s in plane.segments), *plane.addresses.values())
    return any(item.version == 6 for item in written)  # noqa: PLR2004  (the family)


def _address_fact(cluster: Cluster) -> type[DeviceAddress | DeviceAddressV6]:
    return DeviceAddressV6 if ipv6(cluster) else DeviceAddress


NO_TARGET = Text(
    en="no netdetect target is planned, so net health has no verdict: no command that sets an IPv6 one is known",
    zh="未规划 netdetect 目标：没有已知命令可设置 IPv6 目标，因此网络健康状态不作结论",
)


def targets_left_out(cluster: Cluster) -> bool:
    """Tell whether targets were wanted that can't be set: on an IPv6 plan (facts/hccn 3.1)."""
    return ipv6(cluster) and cluster.parameter_plane.netdetect is not NetDetectPolicy.NONE


def _settable(cluster: Cluster) -> Cluster:
    """Leave out IPv6 netdetect targets: no command of the tool is known that sets one (facts/hccn 3.1)."""
    if not ipv6(cluster):
        return cluster
    bare = {place: replace(item, netdetect=None) for place, item in cluster.addressing.items()}
    return replace(cluster, addressing=bare)


def _taken(site: Site, snapshot: Snapshot) -> set[Address]:
    """Addresses that the servers themselves carry: no device may get one."""
    seen = Seen(snapshot)
    facts = (seen.at(s.place, HostAddress) for s in site.cluster.servers)
    return {address for fact in facts if fact is not None for _, address in fact.addresses}


def last_applied(home: Path) -> dict[Place, Interface]:
    """Read what `apply` last made so; empty before the first apply. Raises ConfigError for a damaged file."""
    path = home / "applied.json"
    try:
        words = json.loads(path.read_text(encoding="utf-8"))
        return {parse_place(place): ip_interface(address) for place, address in words.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        expected = "what apply wrote; remove the file to plan from the devices alone"
        raise ConfigError(
            (Mistake(file=str(path), line=None, path="applied", seen=str(error), expected=expected),)
        ) from error


def remember(home: Path, addresses: dict[Place, Interface]) -> None:
    """Keep what stands now as the intent of later looks; written whole or not at all."""
    merged = {**last_applied(home), **addresses}
    home.mkdir(parents=True, exist_ok=True)
    fresh = home / f"applied.json.{os.getpid()}"
    with fresh.open("w", encoding="utf-8") as file:
        json.dump({str(p): str(a) for p, a in merged.items()}, file, indent=0)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(home / "applied.json")


def forget(home: Path) -> None:
    """Drop the intent: after an undo the devices' own state counts again."""
    (home / "applied.json").unlink(missing_ok=True)
