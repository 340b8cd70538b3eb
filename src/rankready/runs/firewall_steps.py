"""What opening or disabling host firewalls takes on each server, with the way back of every step."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankready.model.command import Command
from rankready.model.observed.host import Firewalld, Iptables, Nft, Ufw
from rankready.model.observed.job_host import Cann, LocalPorts
from rankready.model.place import server_place
from rankready.model.ports import EPHEMERAL, PortRange, hccl_ports, job_ports, peers
from rankready.tools import firewalld as firewalld_tool
from rankready.tools import iptables as iptables_tool
from rankready.tools import nft as nft_tool
from rankready.tools import sysctl as sysctl_tool
from rankready.tools import ufw as ufw_tool

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Server
    from rankready.model.observed.host import InputFilter
    from rankready.model.snapshot import Seen

LANE = "firewall"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call on one server and the call that takes it back."""

    server: str
    tool: str
    do: Command
    undo: Command

    def json(self) -> dict[str, Any]:
        """Return it as the journal keeps it."""
        return {"server": self.server, "tool": self.tool, "do": _packed(self.do), "undo": _packed(self.undo)}


def _packed(command: Command) -> dict[str, Any]:
    return {"argv": list(command.argv), "shell": command.shell, "timeout_s": command.timeout_s}


def unpacked(entry: Mapping[str, Any]) -> Command:
    """Read a command back from the journal; raises KeyError, TypeError, ValueError on anything else."""
    return Command(
        argv=tuple(str(w) for w in entry["argv"]),
        shell=str(entry["shell"]),
        timeout_s=float(entry["timeout_s"]),
        lane=LANE,
    )


def opening(cluster: Cluster, seen: Seen, *, gloo: bool = False) -> tuple[Step, ...]:
    """Return what lets every peer in on the job's ports, where that is not so already.

    ``gloo``: on the ports too that the system lends, where gloo groups listen. Where HCCL's ports are among those that
    it lends, they are reserved, beside what is reserved there already.
    """
    steps: list[Step] = []
    for server in cluster.servers:
        mine = [*_open(cluster, server, seen, gloo=gloo)]
        steps += [*mine, *_reserve(cluster, server, seen, touched=bool(mine))]
    return tuple(steps)


def _reserve(cluster: Cluster, server: Server, seen: Seen, *, touched: bool) -> Iterator[Step]:
    """Keep HCCL's ports out of what is lent (facts/launch 4, consequence 2), on servers that run jobs."""
    fact = seen.at(server.place, LocalPorts)
    if fact is None or not (touched or seen.at(server.place, Cann) is not None):
        return
    lent = [r for r in hccl_ports(cluster.job) if r.last - r.first < EPHEMERAL[1] - EPHEMERAL[0]]
    lent = [r for r in lent if any(fact.lends(port) for port in range(r.first, r.last + 1))]
    if lent:
        merged = (*fact.reserved, *((r.first, r.last) for r in lent))
        yield _step(server, "sysctl", sysctl_tool.reserve(merged), sysctl_tool.reserve(fact.reserved))


def _open(cluster: Cluster, server: Server, seen: Seen, *, gloo: bool) -> Iterator[Step]:
    ranges = (*job_ports(cluster, server), *((_lent(server, seen),) if gloo else ()))
    wanted = [(ports, address) for ports in ranges for _, address in peers(cluster, server)]
    ufw, firewalld = seen.at(server.place, Ufw), seen.at(server.place, Firewalld)
    if ufw is not None and ufw.active:
        for ports, peer in _shut(ufw.filters[0], wanted):
            yield _step(server, "ufw", ufw_tool.admit(peer, ports), ufw_tool.retract(peer, ports))
    if firewalld is not None and firewalld.active:
        for ports, peer in _shut(firewalld, wanted):
            for zone in firewalld.filters_for(peer):
                admit, retract = firewalld_tool.admit, firewalld_tool.retract
                yield _step(server, "firewalld", admit(zone.name, peer, ports), retract(zone.name, peer, ports))
    yield from _open_chains(server, seen.at(server.place, Nft), wanted)
    yield from _open_iptables(server, seen.at(server.place, Iptables), wanted)


def _lent(server: Server, seen: Seen) -> PortRange:
    """Return the ports that the system lends; Linux's own range where it did not tell."""
    fact = seen.at(server.place, LocalPorts)
    first, last = EPHEMERAL if fact is None else (fact.first, fact.last)
    return PortRange(first=first, last=last)


def _open_iptables(
    server: Server, iptables: Iptables | None, wanted: list[tuple[PortRange, Address]]
) -> Iterator[Step]:
    if iptables is None:
        return
    for program, found in zip(iptables.programs, iptables.filters, strict=True):
        for ports, peer in _shut(found, wanted):
            key = (program, peer, ports, f"rankready-{secrets.token_hex(4)}")
            yield _step(server, "iptables", iptables_tool.admit(*key), iptables_tool.retract(*key))


def _open_chains(server: Server, nft: Nft | None, wanted: list[tuple[PortRange, Address]]) -> Iterator[Step]:
    if nft is None:
        return
    for (family, table, chain, _), found in zip(nft.chains, nft.filters, strict=True):
        closed = _shut(found, wanted)
        for ports in dict.fromkeys(p for p, _ in closed):
            sources = [peer for p, peer in closed if p == ports]
            tag = f"rankready-{secrets.token_hex(4)}"
            key = (family, table, chain)
            yield _step(server, "nft", nft_tool.admit(key, sources, ports, tag), nft_tool.retract(key, tag))


def _shut(which: InputFilter | Firewalld, wanted: list[tuple[PortRange, Address]]) -> list[tuple[PortRange, Address]]:
    """Keep the ranges that are not surely open; a rule that adds nothing does no harm, a missing one stops the job."""
    return [(p, a) for p, a in wanted if any(which.admits(a, x) is not True for x in which.edges(p.first, p.last))]


def stopping(cluster: Cluster, seen: Seen) -> tuple[Step, ...]:
    """Return what switches firewalls off, as the vendor's guide does; chains that someone wrote by hand are left."""
    steps: list[Step] = []
    for server in cluster.servers:
        ufw, firewalld = seen.at(server.place, Ufw), seen.at(server.place, Firewalld)
        if ufw is not None and ufw.active:
            steps.append(_step(server, "ufw", ufw_tool.STOP, ufw_tool.START))
        if firewalld is not None and firewalld.active:
            steps.append(_step(server, "firewalld", firewalld_tool.STOP, firewalld_tool.START))
    return tuple(steps)


def stopping_left(steps: Sequence[Step], seen: Seen) -> dict[str, str]:
    """Return the servers where a firewall that was to be switched off is still active, with its name."""
    left: dict[str, str] = {}
    for step in steps:
        place = server_place(step.server)
        found = seen.at(place, Ufw) if step.tool == "ufw" else seen.at(place, Firewalld)
        if found is not None and found.active:
            left[step.server] = step.tool
    return left


def _step(server: Server, tool: str, do: Command, undo: Command) -> Step:
    return Step(server=server.name, tool=tool, do=do, undo=undo)


def standing(server: Server, seen: Seen) -> dict[str, Any]:
    """Return what stands on a server, as it can be compared with a later look; a gap is its reason."""
    found: dict[str, Any] = {}
    for kind in (Ufw, Firewalld, Nft, Iptables):
        gap = seen.gap(server.place, kind)
        found[kind.__name__.lower()] = {"unknown": gap.reason} if gap is not None else None
    if (ufw := seen.at(server.place, Ufw)) is not None:
        found["ufw"] = {"active": ufw.active, "rules": list(ufw.rules)}
    if (firewalld := seen.at(server.place, Firewalld)) is not None:
        rules = list(firewalld.rules)
        found["firewalld"] = {"active": firewalld.active, "enabled": firewalld.enabled, "rules": rules}
    if (nft := seen.at(server.place, Nft)) is not None:
        rules = [str(rule) for each in nft.filters for rule in each.rules]
        found["nft"] = {"chains": [list(c) for c in nft.chains], "rules": rules}
    if (iptables := seen.at(server.place, Iptables)) is not None:
        found["iptables"] = {"rules": list(iptables.rules)}
    if (ports := seen.at(server.place, LocalPorts)) is not None:
        found["reserved_ports"] = [list(span) for span in ports.reserved]
    return found
