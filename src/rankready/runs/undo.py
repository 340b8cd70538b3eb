"""Put back what stood before an apply: the devices' old values, then their file, then read both again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankready.model.change import What
from rankready.model.errors import ConfigError, Mistake
from rankready.model.observed.device import DeviceAddress, DeviceGateway, NetDetect
from rankready.model.observed.host import HccnConfText
from rankready.model.snapshot import Gap, GapKind, Seen
from rankready.model.text import Text
from rankready.runs.intent import forget
from rankready.runs.journal import Journal, changed, entries, latest
from rankready.runs.lock import held
from rankready.runs.observe import observe, questions
from rankready.runs.script import ask
from rankready.runs.sets import make_so
from rankready.tools.hccn_conf import write_conf
from rankready.tools.hccn_tool import impossible

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rankready.kind.transport import Session
    from rankready.model.change import Change
    from rankready.model.cluster import Server
    from rankready.model.place import Place
    from rankready.model.record import Record
    from rankready.runs.site import Site

ORDER = tuple(What)


def journal_of(home: Path, named: Path | None) -> Path:
    """Return the journal to undo: the named one, or the last apply's; raises ConfigError where there is none."""
    path = named or latest(home, "apply")
    if path is None or not path.is_file():
        seen = str(named) if named else f"no journal in {home / 'journal'}"
        expected = "a journal that apply wrote"
        raise ConfigError((Mistake(file=str(path or home), line=None, path="journal", seen=seen, expected=expected),))
    return path


def restoring(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Return what sets a server's devices back: each value's earliest ``before``, device by device, address first."""
    first: dict[tuple[Place, What], Change] = {}
    for change in changes:
        first.setdefault((change.place, change.what), change)
    back = [replace(c, before=c.after, after=c.before or "", reason="undo") for c in first.values()]
    places = list(dict.fromkeys(c.place for c in back))
    return tuple(sorted(back, key=lambda c: (places.index(c.place), ORDER.index(c.what))))


async def undo(site: Site, path: Path, *, dry_run: bool = False) -> Record:
    """Restore every server that the journal names; says what could not be put back."""
    found = entries(path)
    by_server = {name: restoring(items) for name, items in changed(found).items()}
    confs: dict[str, str] = {}
    for entry in found:
        if entry["kind"] == "conf" and entry["text"] is not None:
            confs.setdefault(entry["server"], entry["text"])
    extra: dict[str, Any] = {"journal": str(path), "dry_run": dry_run}
    code = 0
    if dry_run:
        extra["would_restore"] = {
            name: [f"{c.place} {c.what} {c.after or 'unset'}" for c in items] for name, items in by_server.items()
        }
        code = 1 if by_server else 0
    else:
        with held(site.home, "undo"):
            results = await _restore(site, by_server, confs)
        code = 0 if not any(results.values()) else (3 if all(_only_lost(w) for w in results.values() if w) else 1)
        extra["restored"] = [name for name, words in results.items() if not words]
        extra["not_restored"] = {name: list(words) for name, words in results.items() if words}
    return site.record("undo", code, extra=extra)


LOST = "not reached: "


def _only_lost(words: tuple[str, ...]) -> bool:
    return all(w.startswith(LOST) for w in words)


async def _restore(
    site: Site, by_server: Mapping[str, tuple[Change, ...]], confs: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    journal = Journal.begin(site.home, "undo")

    async def one(server: Server, session: Session) -> None:
        back = [c for c in by_server[server.name] if impossible(c) is None]
        journal.changes(server.name, back)
        await make_so(session, back)  # what was refused shows in the read-back
        if server.name in confs:
            await ask(session, [write_conf(confs[server.name])])
        journal.write("done", server=server.name)

    servers = [site.cluster.server(name) for name in by_server]
    site.say(Text(en=f"putting {len(servers)} servers back", zh=f"正在恢复 {len(servers)} 台服务器"))
    answers = await site.fleet.each(one, servers)
    snapshot = await observe(site, questions((DeviceAddress, DeviceGateway, NetDetect, HccnConfText)), servers)
    journal.close()
    forget(site.home)
    seen = Seen(snapshot)
    results: dict[str, tuple[str, ...]] = {}
    for name, answer in answers.items():
        lost = (f"{LOST}{answer.reason}",) if isinstance(answer, Gap) else ()
        results[name] = lost or _differences(seen, site.cluster.server(name), by_server[name], confs.get(name))
    return results


def _differences(seen: Seen, server: Server, back: tuple[Change, ...], conf: str | None) -> tuple[str, ...]:
    words: list[str] = []
    for change in back:
        now = _value(seen, change)
        if now is None:
            words.append(f"{change.place} {change.what}: could not be read back")
        elif now != change.after:
            words.append(_still(change, now))
    text = seen.at(server.place, HccnConfText)
    if conf is not None and (text is None or text.text != conf):
        words.append(f"{server.name}: its configuration file is not as before")
    return tuple(words)


def _still(change: Change, now: str) -> str:
    """No tool call takes an address away (facts/hccn 3.1): the file is back, the device follows at its next reset."""
    if change.after:
        return f"{change.place} {change.what}: is {now}, before the apply {change.after}"
    return f"{change.place} {change.what}: still {now} until the device's next reset; nothing stood there before"


def _value(seen: Seen, change: Change) -> str | None:
    match change.what:
        case What.ADDRESS:
            address = seen.at(change.place, DeviceAddress)
            found = None if address is None else str(address.interface)
            kind: type = DeviceAddress
        case What.GATEWAY:
            gateway = seen.at(change.place, DeviceGateway)
            found = None if gateway is None else str(gateway.address)
            kind = DeviceGateway
        case What.NETDETECT:
            target = seen.at(change.place, NetDetect)
            found = None if target is None else str(target.target)
            kind = NetDetect
    if found is None:
        gap = seen.gap(change.place, kind)
        return "" if gap is not None and gap.kind is GapKind.UNSET else None
    return found
