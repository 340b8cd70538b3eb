"""Is everything as a job needs it? One look before the start: the catalogue, the job's own needs, real connections."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from rankready.model.finding import Outcome, Verdict, exit_code
from rankready.model.snapshot import Gap
from rankready.runs import preflight_own
from rankready.runs.firewall_proof import by_connections
from rankready.runs.preflight_catalogue import as_job, catalogue, imports
from rankready.runs.preflight_table import rank_table
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Collection

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.model.ranks import LaunchSpec
    from rankready.runs.site import Site

LOST = "HST001"
SETTLED = (LOST, *preflight_own.CODES)  # without an answer to these nothing is started


async def preflight(
    site: Site, spec: LaunchSpec, *, script: bool = True, force: bool = False, judged: Collection[str] = ()
) -> tuple[Verdict, ...]:
    """Ask every server and judge. ``script`` False: it comes from here and is proven by `sync`.

    Every check of the catalogue about jobs, and those about servers and devices without which no job runs, for this
    job's servers, devices, ports and variables; JOB002 to JOB006 of its own; JOB019 where there is torch_npu; the rank
    table that it names (RTB codes); and FWL001 by real connections in both directions. A device that another job holds
    (JOB001) is an error here unless ``force``. ``judged``: codes that the caller has judged a moment ago.
    """
    chosen = tuple(site.cluster.server(n.server) for n in spec.nodes)

    async def one(_: Server, session: Session) -> preflight_own.Answers:
        return await ask(session, preflight_own.commands(spec))

    answers, looked = await asyncio.gather(
        site.fleet.each(one, chosen), catalogue(site, spec, force=force, judged=judged)
    )
    known = {name: found for name, found in answers.items() if not isinstance(found, Gap)}
    told = preflight_own.Told({s.name: s.place for s in chosen}, known)
    own = preflight_own.judged(told, spec, script=script)
    lost = tuple(Verdict(code=LOST, place=told.places[n], outcome=Outcome.UNKNOWN, reason=g.reason, reason_zh=g.zh)
                 for n, g in answers.items() if isinstance(g, Gap))  # fmt: skip
    gone = answers.keys() - known.keys()
    behind = {*gone, *((site.cluster.name,) if gone else ())}  # what is not known for a lost server's sake alone
    listed = tuple(v for v in looked.verdicts if v.code != LOST and not (_open(v) and v.place.name in behind))
    found = (*lost, *own, *listed)
    if stops(found):
        return found  # what follows takes seconds, and the job does not start as it is
    more = await asyncio.gather(
        imports(site, spec, looked.seen),
        rank_table(site, spec, looked.seen),
        _connected(site, spec, judged),
    )
    return (*found, *(v for part in more for v in part if v.place.name not in gone))


async def _connected(site: Site, spec: LaunchSpec, judged: Collection[str]) -> tuple[Verdict, ...]:
    return () if "FWL001" in judged else await by_connections(site, as_job(site.cluster, spec))


def stops(found: tuple[Verdict, ...]) -> int:
    """Return the exit code that keeps a job from being started, 0 for none.

    What the catalogue could not learn (no vendor tool, on CPUs) does not stop it: it is told, and the job's own start
    will show it.
    """
    return exit_code(tuple(v for v in found if not not_learned(v)))


def not_learned(verdict: Verdict) -> bool:
    """Tell whether a check of the catalogue could not be answered."""
    return _open(verdict) and verdict.code not in SETTLED


def _open(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.UNKNOWN
