"""One server's share of an apply: journal what stands there, set in order, hear the tool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankready.model.observed.host import HccnConfText
from rankready.model.snapshot import Gap, GapKind, Seen
from rankready.model.text import Text
from rankready.plan.order import ordered
from rankready.runs.carried import addresses, values
from rankready.runs.intent import ipv6
from rankready.runs.observe import product
from rankready.runs.sets import make_so

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.kind.transport import Session
    from rankready.model.addressing import Address
    from rankready.model.change import Change, What
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place
    from rankready.runs.journal import Journal
    from rankready.runs.plan import Drawn

Refusals = dict[tuple["Place", "What"], Gap]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What all servers of one apply share. ``taken``: addresses that are nobody's to use even for a moment."""

    drawn: Drawn
    journal: Journal
    token: str
    taken: frozenset[Address] = field(default_factory=frozenset)


def taken_addresses(drawn: Drawn, hosts: Sequence[Address]) -> frozenset[Address]:
    """Return every address that is planned, carried, a gateway, a target, or a server's own."""
    cluster, seen = drawn.cluster, Seen(drawn.snapshot)
    found: set[Address] = set(hosts) | set(addresses(seen, cluster.devices(), six=ipv6(cluster)).values())
    for planned in cluster.addressing.values():
        found |= {a for a in (planned.interface.ip, planned.gateway, planned.netdetect) if a is not None}
    return frozenset(found)


def steps(drawn: Drawn, server: Server, changes: Sequence[Change], taken: frozenset[Address]) -> tuple[Change, ...]:
    """Return a server's changes in the order in which they are sent, ways around included."""
    carried = addresses(Seen(drawn.snapshot), server.device_places(), six=ipv6(drawn.cluster))
    return ordered(changes, carried, taken, product(drawn.cluster).reserved)


async def set_server(job: Job, server: Server, session: Session, changes: Sequence[Change]) -> Refusals:
    """Set one server; returns what was not accepted. Nothing is sent before the journal has it. Raises Unreachable."""
    seen = Seen(job.drawn.snapshot)
    conf = seen.at(server.place, HccnConfText)
    if conf is None and not seen.unset(server.place, HccnConfText):
        gap = seen.gap(server.place, HccnConfText)
        told = gap.why if gap else Text(en="", zh="")
        refused = Gap(
            f"its file was not read, so it could not be put back: {told.en}",
            GapKind.DENIED,
            f"未读到其文件，因而无法恢复：{told.zh}",
        )
        return {(c.place, c.what): refused for c in changes}
    job.journal.write(
        "before",
        server=server.name,
        conf=None if conf is None else conf.text,
        devices=_values(job.drawn.cluster, seen, changes),
    )
    ready = steps(job.drawn, server, changes, job.taken)
    job.journal.changes(server.name, ready)
    refusals = {(change.place, change.what): gap for change, gap in await make_so(session, ready, job.token)}
    words = [f"{place} {what}: {gap.reason}" for (place, what), gap in refusals.items()]
    job.journal.write("failed" if words else "done", server=server.name, words=words)
    return refusals


def _values(cluster: Cluster, seen: Seen, changes: Sequence[Change]) -> dict[str, dict[str, str | None]]:
    six = ipv6(cluster)
    return {str(place): values(seen, place, six=six) for place in dict.fromkeys(c.place for c in changes)}
