"""Make the plan so: locked, journalled, canary first, sets in order, everything read back from device and file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.model.observed.device import DeviceHeld
from rankready.model.observed.host import Chips
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.plan.changes import changes
from rankready.plan.waves import waves
from rankready.runs import apply_result as result
from rankready.runs import server_lock
from rankready.runs.apply_result import Progress, grouped
from rankready.runs.apply_server import Job, set_server, taken_addresses
from rankready.runs.held import named, refused
from rankready.runs.intent import remember
from rankready.runs.journal import Journal, changed, entries, unfinished
from rankready.runs.lock import held
from rankready.runs.observe import observe, questions
from rankready.runs.plan import carried_facts, host_addresses
from rankready.runs.stale import refuse_moved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.model.change import Change, Plan
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.model.snapshot import Snapshot
    from rankready.runs.plan import Drawn
    from rankready.runs.server_lock import Hold
    from rankready.runs.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What the operator allows: devices held by a job by name, and the share of servers that may fail."""

    dry_run: bool = False
    force: frozenset[str] = frozenset()
    max_fail: float = 0.0


async def apply(site: Site, drawn: Drawn, how: How = How()) -> Record:
    """Apply what was drawn; nothing is written when the plan has problems or a job holds a device.

    Raises Locked, StalePlan (something moved since the plan was drawn), ConfigError (a forced name is no device),
    and RankreadyError when the journal can't be written.
    """
    force = named(site.cluster, how.force)
    blocked = refused(drawn.snapshot, (c.place for c in drawn.plan.changes), force)
    if how.dry_run or drawn.plan.problems or blocked:
        return result.unchanged(site, drawn, blocked, dry_run=how.dry_run)
    if not drawn.plan.changes:
        _finish(site, drawn)
        return result.unchanged(site, drawn, blocked)
    with held(site.home, "apply"):
        hold = await server_lock.take(site, "apply", _touched(site, drawn))
        try:
            return await _apply(site, drawn, hold, replace(how, force=force))
        finally:
            await server_lock.leave(site, hold)


async def settle(site: Site, *, dry_run: bool = False) -> None:
    """End what an interrupted apply left running on its servers, before the next plan is drawn.

    A script outlives the connection that sent it; who takes its server's lock fences it off. A dry run touches
    nothing, not even a lock. Raises Locked.
    """
    path = unfinished(site.home)
    if path is None or dry_run:
        return
    names = changed(entries(path))
    with held(site.home, "apply"):
        hold = await server_lock.take(site, "apply", [s for s in site.cluster.servers if s.name in names])
        await server_lock.leave(site, hold)


def _touched(site: Site, drawn: Drawn) -> list[Server]:
    return [site.cluster.server(name) for name in grouped(drawn.plan.changes)]


def _finish(site: Site, drawn: Drawn) -> None:
    """All is as planned: an apply that was interrupted at its very end is a finished one."""
    path = unfinished(site.home)
    if path is None or drawn.plan.unread:
        return
    with held(site.home, "apply"):
        journal = Journal(path)
        remember(site.home, {place: item.interface for place, item in drawn.cluster.addressing.items()})
        journal.write("end")
        journal.close()


async def _apply(site: Site, drawn: Drawn, hold: Hold, how: How) -> Record:
    fresh = await _again(site, drawn, [site.cluster.server(name) for name in hold.servers])
    drawn = replace(drawn, snapshot=fresh)
    if blocked := refused(fresh, (c.place for c in drawn.plan.changes), how.force):
        return result.unchanged(site, drawn, blocked)
    progress = Progress(snapshot=fresh, lost=dict(hold.lost))
    before = unfinished(site.home)
    if before:
        site.say(
            Text(
                en=f"the last apply did not end as planned: going on in its journal {before.name}",
                zh=f"上次 apply 未按规划完成：接着写入其日志 {before.name}",
            )
        )
    journal = Journal.again(before) if before else Journal.begin(site.home, "apply", drawn.cluster.addressing)
    try:
        hosts = [a for own in host_addresses(drawn.cluster, fresh).values() for a in own]
        job = Job(drawn=drawn, journal=journal, token=hold.token, taken=taken_addresses(drawn, hosts))
        by_server = grouped([c for c in drawn.plan.changes if c.place.name in hold.servers])
        await _walk(site, job, by_server, (how, progress))
        after = replace(drawn, snapshot=progress.snapshot, plan=_left(drawn, progress.snapshot))
        found = result.record(site, (drawn, after), progress, (journal.path, before is not None))
        good = result.good_servers(drawn, after, found.extra["not_accepted"])
        remember(site.home, {p: drawn.cluster.addressing[p].interface for s in good for p in s.device_places()})
        if not found.extra["not_accepted"] and not after.plan.changes:
            journal.write("end")
        return found
    finally:
        journal.close()


def _left(drawn: Drawn, snapshot: Snapshot) -> Plan:
    return replace(changes(drawn.cluster, Seen(snapshot)), problems=drawn.plan.problems)


async def _again(site: Site, drawn: Drawn, servers: Sequence[Server]) -> Snapshot:
    """Look once more at what is about to change, now that nobody else may; raises StalePlan when it moved."""
    facts = (*carried_facts(site.cluster), DeviceHeld, Chips)
    fresh = drawn.snapshot.merged(await observe(site, questions(facts), servers))
    names = {s.name for s in servers}
    found = changes(drawn.cluster, Seen(fresh))
    unread = {place for place, _ in found.unread}

    def looked_at(change: Change) -> bool:
        return change.place.name in names and not {change.place, change.place.owner} & unread

    refuse_moved(
        replace(drawn, snapshot=fresh),
        [c for c in drawn.plan.changes if looked_at(c)],
        [c for c in found.changes if looked_at(c)],
    )
    return fresh


async def _walk(site: Site, job: Job, by_server: Mapping[str, Sequence[Change]], allowed: tuple[How, Progress]) -> None:
    """Wave after wave; each is read back before the next begins. Ends when too many servers failed."""
    how, progress = allowed
    most = how.max_fail * len(grouped(job.drawn.plan.changes))
    for wave in waves(tuple(by_server)):
        after = replace(job.drawn, plan=_left(job.drawn, progress.snapshot))
        bad = set(result.failed(job.drawn, after, progress)) | {v.place.name for v in result.unwritten(after, progress)}
        if len(bad) > most:
            progress.stopped = True
            return
        more = "…" if len(wave) > 1 else ""
        site.say(
            Text(
                en=f"setting {len(wave)} of {len(by_server)} servers: {wave[0]}{more}",
                zh=f"正在设置 {len(wave)}/{len(by_server)} 台服务器：{wave[0]}{more}",
            )
        )
        await _wave(site, job, {name: by_server[name] for name in wave}, progress)


async def _wave(site: Site, job: Job, wave: Mapping[str, Sequence[Change]], progress: Progress) -> None:
    servers = [site.cluster.server(name) for name in wave]
    said = await site.fleet.each(lambda s, session: set_server(job, s, session, wave[s.name]), servers)
    for name, answer in said.items():
        if isinstance(answer, Gap):
            progress.lost[name] = answer
        else:
            progress.refusals |= answer
    progress.done += wave
    progress.snapshot = progress.snapshot.merged(await observe(site, questions(carried_facts(site.cluster)), servers))
