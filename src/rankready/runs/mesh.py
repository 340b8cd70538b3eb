"""Device-to-device reachability: who was proven to reach whom, and who is to blame where not.

The audit comes first (links, addresses, masks, cables): what it decides needs no probe. Each server walks its own list
of calls, without a barrier between servers, so that one slow device costs nobody else's time (facts/mesh 5).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rankready.kind.check import verdicts
from rankready.mesh.coverage import coverage
from rankready.mesh.follow import follow_up
from rankready.mesh.localise import localise
from rankready.mesh.probe import ProbeResult
from rankready.mesh.schedule import schedule
from rankready.mesh.verdict import mesh_verdicts
from rankready.model.finding import Outcome
from rankready.model.observed.device import DeviceAddress, Link, LinkState
from rankready.model.snapshot import Gap, GapKind, Seen
from rankready.model.text import Text
from rankready.runs.check import checks
from rankready.runs.intent import intended
from rankready.runs.observe import observe, product, questions
from rankready.runs.script import ask
from rankready.tools.hccn_tool import ping, read_ping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.mesh.probe import Mode, Probe
    from rankready.mesh.schedule import Schedule
    from rankready.mesh.suspect import Suspect
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.runs.site import Site

AUDIT = ("NET001", "NET002", "NET003", "NET004", "NET005", "NET006", "NET007", "NET012", "TLS001", "CAB", "HST001")
CHUNK = 16  # calls per script: often enough to stop in time, seldom enough to cost nothing
WAVES = 3  # follow-up waves at most (facts/mesh 9, step 3)
PING_LIMIT_S = 30  # the tool has no time limit of its own (facts/hccn 2.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much to prove. ``mode`` None: directed up to 32 servers, sparse beyond. ``max_time_s`` 0: no limit."""

    mode: Mode | None = None
    sparse_k: int = 8
    max_time_s: float = 0.0
    strict: bool = False


async def mesh(site: Site, limits: Limits = Limits()) -> Record:
    """Audit, probe, and name what is wrong; ``extra`` holds coverage and suspects."""
    chosen = checks(AUDIT)
    facts = {need for c in chosen for need in c.needs} | {DeviceAddress, Link}
    snapshot = await observe(site, questions(facts))
    cluster, seen = intended(site, snapshot), Seen(snapshot)
    audit = verdicts(chosen, cluster, seen)
    rules = product(cluster)
    plan = schedule(cluster, rules, mode=limits.mode, sparse_k=limits.sparse_k)
    _preview(site, plan)
    began = time.monotonic()
    runner = _Runner(site, seen, began + limits.max_time_s if limits.max_time_s else None)
    results = list(await runner.walk(_by_server(plan)))
    for _ in range(WAVES):
        more = follow_up(cluster, rules, seen, results, audit=audit)
        if not more:
            break
        results += await runner.walk(_grouped(more))
    seconds = round(time.monotonic() - began, 3)
    judged = (*audit, *mesh_verdicts(cluster, seen, results, audit=audit, schedule=plan))
    faulty = {v.place for v in judged if v.outcome in (Outcome.FAIL, Outcome.IMPLIED)}
    suspects = localise(cluster, seen, results, audit=audit).suspects
    extra = {
        "coverage": {**asdict(coverage(plan, results, faulty)), "seconds": seconds, "mode": plan.mode.value},
        "suspects": [_suspect(s) for s in suspects],
    }
    return site.judged("mesh", judged, strict=limits.strict, extra=extra)


def _suspect(suspect: Suspect) -> dict[str, Any]:
    return {
        "places": [str(p) for p in suspect.places],
        "kind": suspect.kind.value,
        "witnesses": suspect.witnesses,
        "certainty": suspect.certainty.value,
        "next_test": {"en": suspect.next_test.en, "zh": suspect.next_test.zh},
    }


def _preview(site: Site, plan: Schedule) -> None:
    rounds, calls = len(plan.rounds), sum(len(r) for r in plan.rounds)
    site.say(
        Text(
            en=f"{calls} probes in {rounds} rounds (bound {plan.bound}), {plan.mode}, 3 packets each",
            zh=f"{calls} 次探测，{rounds} 轮（下界 {plan.bound}），{plan.mode}，每次 3 个包",
        )
    )


def _by_server(plan: Schedule) -> dict[str, list[Probe]]:
    return {s.name: list(plan.calls(s.name)) for s in plan.cluster.servers}


def _grouped(probes: Iterable[Probe]) -> dict[str, list[Probe]]:
    found: dict[str, list[Probe]] = {}
    for probe in probes:
        found.setdefault(probe.source.name, []).append(probe)
    return found


class _Runner:
    """Sends each server its calls in chunks, one call at a time, until the time is up."""

    def __init__(self, site: Site, seen: Seen, until: float | None) -> None:
        """Know what the audit decided: devices that are down or have no address are not called."""
        self._site, self._seen, self._until = site, seen, until

    async def walk(self, calls: Mapping[str, Sequence[Probe]]) -> tuple[ProbeResult, ...]:
        """Make all calls, servers side by side."""
        servers = [self._site.cluster.server(name) for name in calls]

        async def one(server: Server, session: Session) -> tuple[ProbeResult, ...]:
            return await self._server(session, calls[server.name])

        answers = await self._site.fleet.each(one, servers)
        results: list[ProbeResult] = []
        for name, answer in answers.items():
            if isinstance(answer, Gap):
                results += [ProbeResult(probe=p, gap=answer) for p in calls[name]]
            else:
                results += answer
        return tuple(results)

    async def _server(self, session: Session, probes: Sequence[Probe]) -> tuple[ProbeResult, ...]:
        results: list[ProbeResult] = []
        todo: list[Probe] = []
        for probe in probes:
            reason = self._decided(probe)
            if reason is None:
                todo.append(probe)
            else:
                results.append(ProbeResult(probe=probe, gap=reason))
        for start in range(0, len(todo), CHUNK):
            part = todo[start : start + CHUNK]
            if self._until is not None and time.monotonic() > self._until:
                results += [ProbeResult(probe=p, gap=Gap("the time limit was reached before")) for p in todo[start:]]
                break
            commands = [ping(p.source.device, p.address, lane="mesh") for p in part]
            replies = await ask(session, commands, lanes=1)
            for probe, reply in zip(part, replies, strict=True):
                answer = read_ping(reply)
                if isinstance(answer, Gap):
                    results.append(ProbeResult(probe=probe, gap=answer))
                else:
                    results.append(ProbeResult(probe=probe, sent=answer.sent, received=answer.received))
            await asyncio.sleep(0)
        return tuple(results)

    def _decided(self, probe: Probe) -> Gap | None:
        for end in (probe.source, probe.target):
            link = self._seen.at(end, Link)
            if link is not None and link.state is LinkState.DOWN:
                return Gap(f"{end}: link is down")
            gap = self._seen.gap(end, DeviceAddress)
            if gap is not None and gap.kind is GapKind.UNSET:
                return Gap(f"{end}: no address is set")
        return None
