"""Put back what stood before an apply: the devices' old values, then their file, then read both again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rankready.model.errors import ConfigError, Mistake
from rankready.model.observed.device import DeviceHeld
from rankready.model.observed.host import Chips, HccnConfText
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs import server_lock
from rankready.runs.held import named, refused
from rankready.runs.intent import forget, ipv6
from rankready.runs.journal import Journal, entries, latest
from rankready.runs.lock import held
from rankready.runs.observe import observe, product, questions
from rankready.runs.plan import carried_facts
from rankready.runs.script import ask
from rankready.runs.server_lock import fenced, fenced_off
from rankready.runs.sets import commands, make_so
from rankready.runs.site import now_utc
from rankready.runs.undo_plan import before_of, left, taken, told, way_back
from rankready.tools.hccn_conf import restored, write_conf, written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rankready.kind.transport import Session
    from rankready.model.change import Change
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.model.snapshot import Snapshot
    from rankready.runs.server_lock import Hold
    from rankready.runs.site import Site
    from rankready.runs.undo_plan import Before


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What is to be put back, and the steps to it, by server."""

    path: Path
    before: Mapping[str, Before]
    steps: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)


def journal_of(home: Path, asked: Path | None) -> Path:
    """Return the journal to undo: the named one, or the last apply's; raises ConfigError where there is none."""
    path = asked or latest(home, "apply")
    if path is None or not path.is_file():
        seen = str(asked) if asked else f"no journal in {home / 'journal'}"
        expected = "a journal that apply wrote"
        raise ConfigError((Mistake(file=str(path or home), line=None, path="journal", seen=seen, expected=expected),))
    return path


async def undo(site: Site, path: Path, *, dry_run: bool = False, force: frozenset[str] = frozenset()) -> Record:
    """Restore every server that the journal names; says what could not be put back.

    Raises Locked; ConfigError for a journal of other servers, or a forced name that is no device.
    """
    way = Way(path=path, before=before_of(entries(path), site.cluster, six=ipv6(site.cluster)))
    forced = named(site.cluster, force)
    servers = [site.cluster.server(name) for name in way.before]
    if dry_run:
        found = _found(site, way, await _look(site, servers))
        lines = {name: [str(c) for c in commands(steps)] for name, steps in found.steps.items()}
        extra = {"journal": str(path), "dry_run": True, "commands": lines}
        return site.record("undo", 1 if any(lines.values()) else 0, extra=extra)
    with held(site.home, "undo"):
        hold = await server_lock.take(site, "undo", servers)
        try:
            return await _undo(site, way, hold, forced)
        finally:
            await server_lock.leave(site, hold)


async def _undo(site: Site, way: Way, hold: Hold, force: frozenset[str]) -> Record:
    servers = [site.cluster.server(name) for name in hold.servers]
    snapshot = await _look(site, servers)
    way = _found(site, way, snapshot)
    touched = [change.place for steps in way.steps.values() for change in steps]
    if blocked := refused(snapshot, touched, force):
        return site.record("undo", 1, extra={"journal": str(way.path), "held": blocked})
    site.say(Text(en=f"putting {len(servers)} servers back", zh=f"正在恢复 {len(servers)} 台服务器"))
    said = await _restore(site, way, hold)
    look = await _look(site, servers)
    found = _judged(way, look)
    lost = {name: _not_reached(gap) for name, gap in hold.lost.items()}
    for name, answer in said.items():
        if isinstance(answer, Gap):
            lost[name] = _not_reached(answer)
        elif answer is not None:
            found[name] = (*found.get(name, ()), answer)
    if not lost and not any(said.values()) and _only_stuck(way, look):
        _mark_undone(way.path)
    return _record(site, way, found, lost)


def _only_stuck(way: Way, snapshot: Snapshot) -> bool:
    seen = Seen(snapshot)
    return all(item.stuck for before in way.before.values() for item in left(before, seen))


def _mark_undone(path: Path) -> None:
    """Nothing is left that `apply --continue` could go on with."""
    journal = Journal(path)
    journal.write("undone", at=now_utc())
    journal.close()


async def _look(site: Site, servers: Sequence[Server]) -> Snapshot:
    """See how the devices stand now, and who holds them."""
    return await observe(site, questions((*carried_facts(site.cluster), DeviceHeld, Chips)), servers)


def _found(site: Site, way: Way, snapshot: Snapshot) -> Way:
    seen = Seen(snapshot)
    used = taken(entries(way.path), way.before, seen)
    closed = product(site.cluster).reserved
    return replace(way, steps={name: way_back(old, seen, used, closed) for name, old in way.before.items()})


async def _restore(site: Site, way: Way, hold: Hold) -> dict[str, Text | Gap | None]:
    """Set every server back; returns why a file could not be written, or None."""
    journal = Journal.begin(site.home, "undo")

    async def one(server: Server, session: Session) -> Text | None:
        steps = way.steps[server.name]
        journal.changes(server.name, steps)
        await make_so(session, steps, hold.token)  # what was refused shows in the read-back
        why = await _restore_conf(session, server, way.before[server.name], hold.token)
        journal.write("done", server=server.name, words=[why.en] if why else [])
        return why

    try:
        return await site.fleet.each(one, [site.cluster.server(name) for name in hold.servers])
    finally:
        journal.close()


async def _restore_conf(session: Session, server: Server, before: Before, token: str) -> Text | None:
    """Put the file back, bit for bit where nobody else changed it meanwhile; returns why not, or None."""
    if before.conf is None:
        return None
    (question,) = questions((HccnConfText,))
    (reply,) = await ask(session, [question.ask(server, server.place)])
    now = question.read(reply, server.place)
    if not isinstance(now, HccnConfText):
        why = now.why if isinstance(now, Gap) else Text(en=str(now), zh=str(now))
        return Text(en=f"its configuration file: {why.en}", zh=f"其配置文件：{why.zh}")
    text = restored(now.text, before.conf, frozenset(place.device for place in before.devices))
    if text == now.text:
        return None
    command = write_conf(text)
    (reply,) = await ask(session, [fenced(command, token)])
    gap = fenced_off(reply) or written(replace(reply, command=command))
    return None if gap is None else gap.why


def _not_reached(gap: Gap) -> Text:
    return Text(en=f"not reached: {gap.why.en}", zh=f"未连上：{gap.why.zh}")


def _judged(way: Way, snapshot: Snapshot) -> dict[str, tuple[Text, ...]]:
    seen = Seen(snapshot)
    found = {name: told(left(before, seen)) for name, before in way.before.items()}
    return {name: words for name, words in found.items() if words}


def _record(site: Site, way: Way, wrong: dict[str, tuple[Text, ...]], lost: dict[str, Text]) -> Record:
    wrong = {name: words for name, words in wrong.items() if name not in lost}
    not_restored: dict[str, Any] = {name: [why] for name, why in lost.items()}
    not_restored |= {name: list(words) for name, words in wrong.items()}
    code = 1 if wrong else (3 if lost else 0)
    extra = {
        "journal": str(way.path),
        "restored": [name for name in way.before if name not in not_restored],
        "not_restored": not_restored,
    }
    forget(site.home)
    return site.record("undo", code, extra=extra)
