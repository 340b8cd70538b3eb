"""Sends bursts to and from suspects, counters read around them, to learn which way packets are lost."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from rankready.mesh.direction import trial, unsettled
from rankready.mesh.reach import probe
from rankready.model.observed.device import Counters
from rankready.model.snapshot import Gap
from rankready.model.text import Text
from rankready.runs.observe import questions
from rankready.runs.script import ask
from rankready.tools.hccn_tool import frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankready.kind.transport import Session
    from rankready.mesh.direction import Call, Frames, Trial, Watch
    from rankready.mesh.probe import Probe
    from rankready.model.cluster import Cluster, Server
    from rankready.model.place import Place
    from rankready.runs.mesh_walk import Walk
    from rankready.runs.site import Site

_LANE = "mesh"
_READ_S = 60.0

Watches = tuple["Watch", ...]


async def watched(site: Site, cluster: Cluster, walk: Walk, rounds: Sequence[Watches]) -> list[Trial]:
    """Make the trials round by round; one that the time limit or a lost server keeps from being whole says nothing."""
    if rounds:
        many = sum(map(len, rounds))
        site.say(
            Text(
                en=f"reading the counters of {many} suspects, to learn which way their packets are lost",
                zh=f"读取 {many} 个可疑设备的计数，以判断报文丢失的方向",
            )
        )
    trials = await _tried(site, cluster, walk, rounds)
    return trials + await _tried(site, cluster, walk, unsettled(rounds, trials))


async def _tried(site: Site, cluster: Cluster, walk: Walk, rounds: Sequence[Watches]) -> list[Trial]:
    trials: list[Trial] = []
    for watches in rounds:
        if walk.until is not None and time.monotonic() >= walk.until:
            break
        readings = [await _frames(site, watches)]
        calls: list[list[list[Call]]] = []
        for there in (True, False):
            calls.append(await _burst(cluster, walk, watches, there=there))
            readings.append(await _frames(site, watches))
        trials += [trial(w, readings, (calls[0][n], calls[1][n])) for n, w in enumerate(watches)]
    return trials


async def _burst(cluster: Cluster, walk: Walk, watches: Watches, *, there: bool) -> list[list[Call]]:
    """Let every reference call its suspect, or the other way round; returns each pair's calls."""
    mine: dict[str, list[Probe]] = {}
    slots: list[tuple[str, range]] = []
    for watch in watches:
        ends = (watch.reference, watch.suspect) if there else (watch.suspect, watch.reference)
        queue = mine.setdefault(ends[0].name, [])
        slots.append((ends[0].name, range(len(queue), len(queue) + watch.calls)))
        queue += [probe(cluster, *ends)] * watch.calls
    heard = await walk.make_beyond(mine)
    made = [[heard[name][n] for n in numbers if n in heard[name]] for name, numbers in slots]
    return [[(r.sent, r.received) for r in results if r.gap is None] for results in made]


async def _frames(site: Site, watches: Watches) -> dict[Place, Frames]:
    """Read what the ports of both ends of every pair counted so far."""
    wanted: dict[str, list[Place]] = {}
    for end in (end for w in watches for end in (w.suspect, w.reference)):
        wanted.setdefault(end.name, []).append(end)
    (question,) = questions({Counters})

    async def one(server: Server, session: Session) -> dict[Place, Frames]:
        places = wanted[server.name]
        commands = [replace(question.ask(server, p), lane=_LANE, owner=f"device{p.device}") for p in places]
        replies = await ask(session, commands, lanes=1, within_s=_READ_S)
        facts = [question.read(reply, p) for reply, p in zip(replies, places, strict=True)]
        counted = [frames(fact) if isinstance(fact, Counters) else None for fact in facts]
        return {p: found for p, found in zip(places, counted, strict=True) if found is not None}

    answers = await site.fleet.each(one, [s for s in site.cluster.servers if s.name in wanted])
    return {p: n for answer in answers.values() if not isinstance(answer, Gap) for p, n in answer.items()}
