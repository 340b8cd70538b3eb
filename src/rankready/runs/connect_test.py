"""Do the servers really reach each other on the job's ports? Rules tell what should be; a connection tells what is.

Filters stack (facts/launch 4, consequence 6), so every ordered pair is tried, in both directions: one round trip to
start listeners, one to connect. Above 32 servers each tries a spread of peers instead of all, and that is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankready.model.errors import Unreachable
from rankready.model.ports import HCCL_PORTS, PORT_RANGE, hccl_ports, host_address
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.runs import python_agent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.kind.transport import Channel, Session
    from rankready.model.addressing import Address
    from rankready.model.cluster import Cluster, Server
    from rankready.runs.site import Site

PROBE = Path(__file__).parent / "data" / "port_probe.py"
ALL_PAIRS = 32
TIMEOUT_S = 3.0
LISTEN_S = 180
START_S = 20.0
GONE_S = 10.0
STEPS = (0, 7, 15, HCCL_PORTS - 1)  # of HCCL's ports, those tried: the first, one per card, the last


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """One connection that was tried. ``result``: ok, refused, timeout, …; ``gloo``: an ephemeral port."""

    source: str
    target: str
    port: int
    result: str
    gloo: bool = False

    def json(self) -> dict[str, Any]:
        """Return it as it stands in a record."""
        return {"from": self.source, "to": self.target, "port": self.port, "result": self.result, "gloo": self.gloo}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What was tried, who could not take part and why, and whether every pair was tried."""

    connects: tuple[Connect, ...] = ()
    absent: Mapping[str, str] | None = None
    whole: bool = False

    def reached(self, server: str) -> bool:
        """Tell whether every other server was tried against this one and got through on the job's own ports."""
        tried = [c for c in self.connects if c.target == server and not c.gloo]
        return self.whole and bool(tried) and all(c.result == "ok" for c in tried)


@dataclass(frozen=True, slots=True)
class _Ear:
    """A listener that is up."""

    channel: Channel
    nonce: str
    free: int


async def connect_test(site: Site) -> Tested:
    """Try the job's ports between the servers; nothing is left running."""
    if site.cluster.simulated:
        site.say(Text(en="no connection test: the cluster is simulated", zh="未做连接测试：集群为模拟环境"))
        return Tested()
    placed = {s.name: a for s in site.cluster.servers if (a := host_address(s)) is not None}
    if len(placed) > 1 and len(set(placed.values())) == 1:
        return Tested()  # one host: nothing stands between it and itself
    servers = site.cluster.servers
    ears = await site.fleet.each(lambda server, session: _listen(site.cluster, server, session, placed), servers)
    try:
        up = {name: ear for name, ear in ears.items() if isinstance(ear, _Ear)}
        absent = {name: ear.reason for name, ear in ears.items() if isinstance(ear, Gap)}
        return await _connect(site, up, placed, absent)
    finally:
        await asyncio.gather(*(_dismiss(ear) for ear in ears.values() if isinstance(ear, _Ear)))


def ports_to_try(cluster: Cluster, server: Server) -> tuple[int, ...]:
    """Return the job's ports that stand for all of them at this server."""
    if cluster.job.env.get(PORT_RANGE) == "auto":
        hccl: tuple[int, ...] = ()  # whatever the system lends: the free port that is tried stands for them
    else:
        hccl = tuple(dict.fromkeys(min(r.first + step, r.last) for r in hccl_ports(cluster.job) for step in STEPS))
    return (cluster.job.master_port, *hccl) if server == cluster.nodes()[0] else hccl


def peers_to_try(names: Sequence[str], index: int) -> tuple[str, ...]:
    """Return whom a server tries: everyone, or above 32 servers those 1, 2, 4, 8, … places further on."""
    count = len(names)
    if count <= ALL_PAIRS:
        return tuple(n for i, n in enumerate(names) if i != index)
    steps = [1 << k for k in range(count.bit_length()) if 1 << k < count]
    return tuple(dict.fromkeys(names[(index + step) % count] for step in steps))


async def _listen(cluster: Cluster, server: Server, session: Session, placed: Mapping[str, Address]) -> _Ear | Gap:
    if server.name not in placed:
        return Gap("cluster.yaml does not tell its address", zh="cluster.yaml 未给出其地址")
    nonce = f"rr{secrets.token_hex(8)}"
    request = {"nonce": nonce, "version": placed[server.name].version, "seconds": LISTEN_S}
    channel = await session.open(python_agent.BOOT)
    await channel.write(python_agent.opening(PROBE.read_bytes(), request | {"ports": ports_to_try(cluster, server)}))
    try:
        async with asyncio.timeout(START_S):
            said = await _first_answer(channel, nonce)
    except TimeoutError:
        said = None
    if said is None:
        await python_agent.leave(channel)
        return Gap(
            "the listener for the connection test did not start (python3?)", zh="连接测试的监听程序未启动（python3？）"
        )
    return _Ear(channel, nonce, int(said["free"]))


async def _first_answer(channel: Channel, nonce: str) -> dict[str, Any] | None:
    out = b""
    async for chunk in channel.chunks():
        out += chunk
        if b"\n" in chunk and (said := python_agent.answer(out, nonce)) is not None:
            return said
    return None


async def _dismiss(ear: _Ear) -> None:
    """Let a listener go, and wait until it says that its ports are free: a job may be about to take them."""
    with contextlib.suppress(TimeoutError, Unreachable):
        async with asyncio.timeout(GONE_S):
            await ear.channel.write(b"\n")
            await _first_answer(ear.channel, ear.nonce)
    await python_agent.leave(ear.channel)


async def _connect(
    site: Site, up: Mapping[str, _Ear], placed: Mapping[str, Address], absent: Mapping[str, str]
) -> Tested:
    names = [s.name for s in site.cluster.servers if s.name in up]
    if len(names) < 2:  # noqa: PLR2004  (a connection has two ends)
        return Tested(absent=absent)
    goals = {
        name: [
            (peer, port)
            for peer in peers_to_try(names, index)
            for port in (*ports_to_try(site.cluster, site.cluster.server(peer)), up[peer].free)
        ]
        for index, name in enumerate(names)
    }
    whole = len(names) <= ALL_PAIRS and len(names) == len(site.cluster.servers)
    if len(names) > ALL_PAIRS:
        pairs = sum(len(peers_to_try(names, i)) for i in range(len(names)))
        site.say(
            Text(
                en=f"connection test: {pairs} of {len(names) * (len(names) - 1)} ordered pairs tried",
                zh=f"连接测试：{len(names) * (len(names) - 1)} 个有序服务器对中测试了 {pairs} 个",
            )
        )

    async def one(server: Server, session: Session) -> list[Connect] | Gap:
        goal = goals[server.name]
        results = await _results(session, [(str(placed[peer]), port) for peer, port in goal])
        if isinstance(results, Gap):
            return results
        return [
            Connect(source=server.name, target=peer, port=port, result=word, gloo=port == up[peer].free)
            for (peer, port), word in zip(goal, results, strict=True)
        ]

    done = await site.fleet.each(one, [site.cluster.server(n) for n in names])
    lost = {n: d.reason for n, d in done.items() if isinstance(d, Gap)}
    connects = tuple(c for d in done.values() if not isinstance(d, Gap) for c in d)
    return Tested(connects=connects, absent={**absent, **lost}, whole=whole and not lost)


async def _results(session: Session, targets: Sequence[tuple[str, int]]) -> list[str] | Gap:
    request = {"nonce": f"rr{secrets.token_hex(8)}", "targets": targets, "timeout_s": TIMEOUT_S}
    reply = await session.run(
        python_agent.script(PROBE.read_text(encoding="utf-8"), request), timeout_s=30 + len(targets) * TIMEOUT_S / 100
    )
    said = python_agent.answer(reply.stdout, str(request["nonce"]))
    words = [] if said is None else said.get("results", [])
    if len(words) != len(targets):
        said_by = python_agent.silence(reply)
        return Gap(f"the connection test gave no answer: {said_by}", zh=f"连接测试没有应答：{said_by}")
    return [str(w)[:40] for w in words]
