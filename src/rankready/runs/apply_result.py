"""What came of an apply, in words and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rankready.model.finding import Certainty, Evidence, Finding, Outcome, Severity, Verdict
from rankready.model.hostlist import fold
from rankready.model.snapshot import Seen
from rankready.model.text import Text
from rankready.runs.apply_server import steps, taken_addresses
from rankready.runs.carried import value
from rankready.runs.intent import ipv6
from rankready.runs.plan import exit_of, host_addresses
from rankready.runs.sets import commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rankready.model.change import Change
    from rankready.model.cluster import Server
    from rankready.model.record import Record
    from rankready.model.snapshot import Gap, Snapshot
    from rankready.runs.apply_server import Refusals
    from rankready.runs.held import Holders
    from rankready.runs.plan import Drawn
    from rankready.runs.site import Site

CONF_DIFFERS = "NET006"
_REMEDY = Text(
    en="make /etc/hccn.conf writable there (df /etc; ls -l and lsattr of the file; a read-only mount?), then: "
    "rankready apply --continue",
    zh="先使该服务器的 /etc/hccn.conf 可写（df /etc；ls -l、lsattr 查看文件；是否只读挂载），"
    "再执行：rankready apply --continue",
)


@dataclass(slots=True)
class Progress:
    """What came of it so far: the latest look, servers in the order tried, who was lost and what was refused."""

    snapshot: Snapshot
    done: list[str] = field(default_factory=list)
    lost: dict[str, Gap] = field(default_factory=dict)
    refusals: Refusals = field(default_factory=dict)
    stopped: bool = False


def grouped(changes: Iterable[Change]) -> dict[str, tuple[Change, ...]]:
    """Group changes by server, both in the order given."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.place.name, []).append(change)
    return {name: tuple(items) for name, items in found.items()}


def unchanged(site: Site, drawn: Drawn, blocked: Holders, *, dry_run: bool = False) -> Record:
    """Make the record of an apply that sent nothing: a dry run, nothing to do, or held devices."""
    hosts = [a for own in host_addresses(drawn.cluster, drawn.snapshot).values() for a in own]
    taken = taken_addresses(drawn, hosts)
    by_server = grouped(drawn.plan.changes)
    ready = {name: steps(drawn, site.cluster.server(name), items, taken) for name, items in by_server.items()}
    told = {name: [str(c) for c in commands(items)] for name, items in ready.items()}
    extra: dict[str, Any] = {"held": blocked, "dry_run": dry_run, "commands": told, "asked": drawn.asked.told()}
    if blocked:
        where = " ".join(f"--force {place}" for place in list(blocked)[:3])
        extra["notes"] = [
            Text(
                en=f"nothing was changed: stop those jobs, or name the devices: {where}",
                zh=f"未做任何修改：请先停止这些任务，或点名设备：{where}",
            )
        ]
    return site.record("apply", 1 if blocked else exit_of(drawn.plan), plan=drawn.plan, extra=extra)


def failed(drawn: Drawn, after: Drawn, progress: Progress) -> dict[str, tuple[Text, ...]]:
    """Return server → what is not as planned there, in words; what the file alone lacks stands in ``unwritten``."""
    found: dict[str, dict[Text, list[str]]] = {name: {gap.why: []} for name, gap in progress.lost.items()}
    touched = grouped(drawn.plan.changes)
    for change in after.plan.changes:
        if change.place.name in progress.done and change.place.name not in progress.lost and not _file_only(change):
            why = _why(change, after, progress)
            found.setdefault(change.place.name, {}).setdefault(why, []).append(f"{change.place} {change.what}")
    for place, reason in after.plan.unread:
        if place.name in progress.done and place.name in touched and place.name not in progress.lost:
            why = Text(en=f"could not be read back: {reason.en}", zh=f"未能回读：{reason.zh}")
            found.setdefault(place.name, {}).setdefault(why, []).append(str(place))
    return {name: tuple(_line(why, where) for why, where in whys.items()) for name, whys in found.items()}


def _line(why: Text, where: Sequence[str]) -> Text:
    if not where:
        return why
    places = ", ".join(fold(where))
    return Text(en=f"{places}: {why.en}", zh=f"{places}：{why.zh}")


def _why(change: Change, after: Drawn, progress: Progress) -> Text:
    gap = progress.refusals.get((change.place, change.what))
    if gap is not None:
        return gap.why
    now = value(Seen(after.snapshot), change.place, change.what, six=ipv6(after.cluster))
    return Text(
        en=f"accepted, but the device reads back {now or 'nothing'}, planned {change.after}",
        zh=f"工具已接受，但设备回读为 {now or '空'}，规划为 {change.after}",
    )


def _file_only(change: Change) -> bool:
    """The device carries it; only its line in the file does not say so."""
    return change.before == change.after


def unwritten(after: Drawn, progress: Progress) -> tuple[Verdict, ...]:
    """Return a finding for each device that changed while /etc/hccn.conf did not: lost at its next reset."""
    found: dict[str, list[Change]] = {}
    for change in after.plan.changes:
        if _file_only(change) and change.place.name in progress.done and change.place.name not in progress.lost:
            found.setdefault(str(change.place), []).append(change)
    return tuple(_unwritten(items, progress) for items in found.values())


def _unwritten(items: Sequence[Change], progress: Progress) -> Verdict:
    place = items[0].place
    told = ", ".join(f"{c.what} {c.after}" for c in items)
    gaps = [gap for c in items if (gap := progress.refusals.get((c.place, c.what))) is not None]
    finding = Finding(
        code=CONF_DIFFERS,
        severity=Severity.ERROR,
        certainty=Certainty.SURE,
        place=place,
        message=Text(
            en=f"the device has {told}, /etc/hccn.conf was not written: lost at its next reset",
            zh=f"设备已为 {told}，但 /etc/hccn.conf 未写入：设备下次复位后丢失",
        ),
        remedy=_REMEDY,
        evidence=tuple(Evidence(command=str(c), excerpt=g.reason) for c, g in zip(commands(items), gaps, strict=False)),
    )
    return Verdict(code=CONF_DIFFERS, place=place, outcome=Outcome.FAIL, findings=(finding,))


def good_servers(drawn: Drawn, after: Drawn, wrong: Mapping[str, object]) -> list[Server]:
    """Return the servers that carry all that is planned for them, and of which that was read."""
    bad = {c.place.name for c in after.plan.changes} | {p.name for p, _ in after.plan.unread} | set(wrong)
    return [s for s in drawn.cluster.servers if s.name not in bad]


def record(site: Site, looks: tuple[Drawn, Drawn], progress: Progress, journal: tuple[Path, bool]) -> Record:
    """Make the record of an apply that changed something."""
    (drawn, after), (path, again) = looks, journal
    wrong = failed(drawn, after, progress)
    files = unwritten(after, progress)
    bad = set(wrong) | {v.place.name for v in files}
    touched = grouped(drawn.plan.changes)
    left = [name for name in touched if name not in progress.done and name not in progress.lost]
    extra = {
        "journal": str(path),
        "continued": again,
        "asked": drawn.asked.told(),
        "applied": [name for name in progress.done if name not in bad],
        "not_accepted": {name: list(words) for name, words in wrong.items()},
        "conf_not_written": [str(v.place) for v in files],
        "not_reached_by_wave": left,
        "changed": len(drawn.plan.changes) - len(after.plan.changes),
        "notes": _notes(progress, left, failed=bool(bad)),
    }
    code = 1 if bad or after.plan.changes else exit_of(after.plan)
    return site.record("apply", code, plan=after.plan, verdicts=files, extra=extra)


def _notes(progress: Progress, left: Sequence[str], *, failed: bool) -> list[Text]:
    notes: list[Text] = []
    if progress.stopped:
        names = ", ".join(fold(left)[:4])
        notes.append(
            Text(
                en=f"stopped: more servers failed than allowed; untouched: {names}",
                zh=f"已停止：失败的服务器超过允许的比例；未触及：{names}",
            )
        )
    if failed:
        notes.append(
            Text(
                en="next: rankready apply --continue, or rankready undo to put back what stood before",
                zh="下一步：rankready apply --continue 继续，或 rankready undo 恢复原状",
            )
        )
    return notes
