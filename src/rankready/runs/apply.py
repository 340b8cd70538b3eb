"""Make the plan so: journal, canary first, sets in order, everything read back from the device and from its file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankready.model.errors import StalePlan
from rankready.model.observed.device import DeviceHeld
from rankready.model.observed.host import HccnConfText
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.plan.waves import waves
from rankready.runs.intent import remember
from rankready.runs.journal import Journal
from rankready.runs.lock import held
from rankready.runs.plan import draw, exit_of
from rankready.runs.sets import commands, make_so

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.model.change import Change, Plan
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.runs.plan import Drawn
    from rankready.runs.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """What the operator allows: devices held by a job by name, and the share of servers that may fail."""

    dry_run: bool = False
    force: frozenset[str] = frozenset()
    max_fail: float = 0.0


Refusals = dict[str, tuple[str, ...]]  # server → what went wrong there, in words


async def apply(site: Site, drawn: Drawn, how: How = How()) -> Record:
    """Apply what was drawn; nothing is written when the plan has problems or a job holds a device."""
    blocked = _held(drawn, how)
    if how.dry_run or drawn.plan.problems or blocked or not drawn.plan.changes:
        extra: dict[str, Any] = {"held": blocked, "dry_run": how.dry_run, "commands": _commands(drawn.plan)}
        code = 1 if blocked else exit_of(drawn.plan)
        return site.record("apply", code, plan=drawn.plan, extra=extra)
    with held(site.home, "apply"):
        return await _apply(site, drawn, how)


async def _apply(site: Site, drawn: Drawn, how: How) -> Record:
    by_server = grouped(drawn.plan.changes)
    journal = Journal.begin(site.home, "apply")
    refused: Refusals = {}
    done: list[str] = []
    try:
        for wave in waves(tuple(by_server)):
            site.say(
                Text(
                    en=f"setting {len(wave)} of {len(by_server)} servers: {wave[0]}…",
                    zh=f"正在设置 {len(wave)}/{len(by_server)} 台服务器：{wave[0]}…",
                )
            )
            refused |= await _wave(site, drawn, journal, {name: by_server[name] for name in wave})
            done += wave
            if len(refused) > how.max_fail * len(by_server):
                break
        after = await draw(site)
    finally:
        journal.close()
    return _result(site, (drawn, after), (refused, tuple(done), journal))


def _result(site: Site, looks: tuple[Drawn, Drawn], made: tuple[Refusals, tuple[str, ...], Journal]) -> Record:
    (drawn, after), (refused, done, journal) = looks, made
    pending = {c.place.name for c in after.plan.changes}
    good = [s for s in drawn.cluster.servers if s.name not in pending and s.name not in refused]
    remember(site.home, {p: drawn.cluster.addressing[p].interface for s in good for p in s.device_places()})
    code = 1 if refused or after.plan.changes else exit_of(after.plan)
    extra = {
        "journal": str(journal.path),
        "applied": [name for name in done if name not in refused and name not in pending],
        "not_accepted": {name: list(words) for name, words in refused.items()},
        "not_reached_by_wave": [n for n in grouped(drawn.plan.changes) if n not in done],
        "changed": len(drawn.plan.changes) - len(after.plan.changes),
    }
    return site.record("apply", code, plan=after.plan, extra=extra)


async def _wave(site: Site, drawn: Drawn, journal: Journal, wave: Mapping[str, Sequence[Change]]) -> Refusals:
    seen = Seen(drawn.snapshot)

    async def one(server: Server, session: Session) -> tuple[str, ...]:
        conf = seen.at(server.place, HccnConfText)
        journal.write("conf", server=server.name, text=None if conf is None else conf.text)
        journal.changes(server.name, wave[server.name])
        refusals = await make_so(session, wave[server.name])
        words = tuple(f"{change.place} {change.what}: {gap.reason}" for change, gap in refusals)
        journal.write("done" if not words else "failed", server=server.name, words=list(words))
        return words

    servers = [site.cluster.server(name) for name in wave]
    answers = await site.fleet.each(one, servers)
    failed: Refusals = {}
    for name, answer in answers.items():
        if isinstance(answer, Gap):
            failed[name] = (answer.reason,)
        elif answer:
            failed[name] = answer
    return failed


def grouped(changes: Sequence[Change]) -> dict[str, tuple[Change, ...]]:
    """Group changes by server, both in the order given."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.place.name, []).append(change)
    return {name: tuple(items) for name, items in found.items()}


def _held(drawn: Drawn, how: How) -> list[str]:
    """Devices that a job holds and that the plan would touch (facts/hccn 1, rule 7)."""
    seen = Seen(drawn.snapshot)
    touched = dict.fromkeys(c.place for c in drawn.plan.changes)
    facts = ((place, seen.at(place, DeviceHeld)) for place in touched)
    return [str(p) for p, fact in facts if fact is not None and fact.held and str(p) not in how.force]


def _commands(plan: Plan) -> dict[str, list[str]]:
    return {name: [str(c) for c in commands(items)] for name, items in grouped(plan.changes).items()}


def against(drawn: Drawn, saved: Plan) -> Drawn:
    """Return the saved plan to be applied exactly; raises StalePlan saying what moved since it was made."""
    now = {(c.place, c.what): c for c in drawn.plan.changes}
    moved = [
        f"{c.place} {c.what}: was {c.before or 'unset'} when planned, is {_now(now.get((c.place, c.what)), c)} now"
        for c in saved.changes
        if (found := now.get((c.place, c.what))) is None or (found.before, found.after) != (c.before, c.after)
    ]
    extra = [
        f"{c.place} {c.what}: not in the saved plan"
        for key, c in now.items()
        if key not in {(s.place, s.what) for s in saved.changes}
    ]
    if moved or extra:
        raise StalePlan("the cluster moved since the plan was made:\n  " + "\n  ".join((moved + extra)[:20]))
    return replace(drawn, plan=replace(saved, problems=drawn.plan.problems, unread=drawn.plan.unread))


def _now(found: Change | None, saved: Change) -> str:
    if found is None:
        return f"{saved.after} already"
    return f"{found.before or 'unset'} (planned {found.after})"
