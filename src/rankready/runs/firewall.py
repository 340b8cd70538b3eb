"""Host firewalls for the job: look, let peers in, switch off as the guide does, put back what stood before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankready.checks.firewall_blocks import CHECK
from rankready.kind.check import finding, verdicts
from rankready.model.errors import PlanError
from rankready.model.finding import Evidence, Outcome, Verdict, exit_code
from rankready.model.observed.job_host import Cann, LocalPorts
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs import firewall_journal
from rankready.runs.connect_test import connect_test
from rankready.runs.firewall_proof import proven
from rankready.runs.firewall_steps import LANE, opening, standing, stopping, stopping_left
from rankready.runs.lock import held
from rankready.runs.observe import observe, questions
from rankready.runs.script import ask

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.model.command import Command, Reply
    from rankready.model.finding import Finding
    from rankready.model.record import Record
    from rankready.runs.firewall_journal import Entry
    from rankready.runs.firewall_steps import Step
    from rankready.runs.site import Site

AT_ONCE = 100  # calls in one script: ufw takes half a second for each, a script ten minutes at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """What one change of firewalls would do, drawn from one look."""

    action: str
    steps: tuple[Step, ...]
    seen: Seen

    def lines(self) -> tuple[str, ...]:
        """Return the calls as a person reads them."""
        return tuple(f"{step.server}: {step.do}" for step in self.steps)


async def look(site: Site) -> Seen:
    """Ask every server what filters its traffic."""
    return Seen(await observe(site, questions({*CHECK.needs, LocalPorts, Cann})))


async def status(site: Site, *, strict: bool = False) -> Record:
    """Judge the firewalls by their rules and by real connections; changes nothing."""
    return await _judged(site, await look(site), strict=strict)


async def draw(site: Site, action: str, *, gloo: bool = False) -> Drawn:
    """Work out what ``open`` (``gloo``: gloo's ports too) or ``disable`` would do."""
    seen = await look(site)
    steps = opening(site.cluster, seen, gloo=gloo) if action == "open" else stopping(site.cluster, seen)
    nameless = [s.name for s in site.cluster.servers if s.address is None]
    if action == "open" and nameless and not steps and len(site.cluster.servers) > 1:
        site.say(
            Text(
                en=f"cluster.yaml gives no address for {', '.join(nameless)}",
                zh=f"cluster.yaml 未给出 {'、'.join(nameless)} 的地址",
            )
        )
    return Drawn(action=action, steps=steps, seen=seen)


async def preview(site: Site, drawn: Drawn) -> Record:
    """Say what would be done; exit 1 where something would."""
    for line in drawn.lines():
        site.say(Text(en=f"would run: {line}", zh=f"将执行：{line}"))
    judged = verdicts((CHECK,), site.cluster, drawn.seen)
    code = 1 if drawn.steps else exit_code(judged)
    return site.record("firewall", code, verdicts=judged, extra={"changes": _changes(drawn.steps), "connects": []})


async def carry(site: Site, drawn: Drawn) -> Record:
    """Do it: journalled first, read back, proven by connections. Nothing to do is done at once."""
    extra: dict[str, Any] = {"changes": _changes(drawn.steps)}
    if drawn.steps:
        with held(site.home, f"firewall {drawn.action}"):
            touched = {step.server for step in drawn.steps}
            before = {s.name: standing(s, drawn.seen) for s in site.cluster.servers if s.name in touched}
            entry = firewall_journal.begin(site.home, drawn.action, before, drawn.steps)
            extra["journal"] = str(entry.path)
            await _run(site, {name: _of(drawn.steps, name) for name in touched})
            entry.marked("done")
    seen = await look(site)
    record = await _judged(site, seen, extra=extra)
    return _still_active(record, drawn, seen) if drawn.action == "disable" else record


def _still_active(record: Record, drawn: Drawn, seen: Seen) -> Record:
    """A firewall that was to be switched off and runs on is a finding, whatever it lets through."""
    left = stopping_left(drawn.steps, seen)
    judged = tuple(
        replace(v, outcome=Outcome.FAIL, findings=(*v.findings, _runs_on(v, left[v.place.name])), reason="")
        if v.place.name in left
        else v
        for v in record.verdicts
    )
    return replace(record, verdicts=judged, exit=exit_code(judged))


def _runs_on(verdict: Verdict, tool: str) -> Finding:
    return finding(
        CHECK.code,
        verdict.place,
        Text(en=f"{tool} was to be switched off and is still active", zh=f"{tool} 应已关闭，但仍在运行"),
        remedy=Text(en=f"switch {tool} off on this server by hand", zh=f"请在该服务器上手动关闭 {tool}"),
    )


async def restore(site: Site, entry: Entry) -> Record:
    """Take back a change and compare with what stood before; exit 1 where something differs, 3 where not known."""
    with held(site.home, "firewall restore"):
        await _run(site, entry.undo())
        seen = await look(site)
        servers = [s for s in site.cluster.servers if s.name in entry.before]
        found = [v for s in servers for v in (_compared(s, entry.before[s.name], standing(s, seen)),)]
        if all(v.outcome is Outcome.PASS for v in found):
            entry.marked("restored")
    extra = {"journal": str(entry.path), "restored": [v.place.name for v in found if v.outcome is Outcome.PASS]}
    return site.record("firewall", exit_code(tuple(found)), verdicts=tuple(found), extra=extra)


def preview_restore(site: Site, entry: Entry) -> Record:
    """Say what `restore` would run; exit 1, for there is something to take back."""
    changes = [{"server": name, "command": str(c)} for name, commands in entry.undo().items() for c in commands]
    for change in changes:
        site.say(
            Text(
                en=f"would run on {change['server']}: {change['command']}",
                zh=f"将在 {change['server']} 上执行：{change['command']}",
            )
        )
    return site.record("firewall", 1, extra={"changes": changes, "journal": str(entry.path)})


def to_restore(site: Site) -> Entry:
    """Return the newest change that still stands; raises PlanError when there is none."""
    entry = firewall_journal.latest(site.home)
    if entry is None:
        raise PlanError(f"no firewall change of ours stands: {site.home / 'journal'} holds none that was not put back")
    return entry


def _changes(steps: Iterable[Step]) -> list[dict[str, str]]:
    return [{"server": s.server, "tool": s.tool, "command": str(s.do)} for s in steps]


def _of(steps: Iterable[Step], server: str) -> tuple[Command, ...]:
    return tuple(replace(s.do, lane=LANE) for s in steps if s.server == server)


async def _run(site: Site, by_server: Mapping[str, Sequence[Command]]) -> None:
    """Run each server's calls in their order; what failed is said, and shows when the state is read back."""

    async def one(server: Server, session: Session) -> list[Reply]:
        commands = by_server[server.name]
        done: list[Reply] = []
        for start in range(0, len(commands), AT_ONCE):
            done += await ask(session, commands[start : start + AT_ONCE])
        return done

    servers = [s for s in site.cluster.servers if s.name in by_server]
    for name, replies in (await site.fleet.each(one, servers)).items():
        bad = [Text(en=replies.reason, zh=replies.reason)] if isinstance(replies, Gap) else _refused(replies)
        for text in bad:
            site.say(Text(en=f"{name}: {text.en}", zh=f"{name}：{text.zh}"))


def _refused(replies: Iterable[Reply]) -> list[Text]:
    failed = [r for r in replies if r.exit != 0]
    return [Text(en=f"{r.command} failed: {r.first_line}", zh=f"{r.command} 失败：{r.first_line}") for r in failed]


def _compared(server: Server, before: Mapping[str, Any], now: Mapping[str, Any]) -> Verdict:
    unknown = [str(part["unknown"]) for part in now.values() if isinstance(part, dict) and "unknown" in part]
    differ = [tool for tool, part in before.items() if now.get(tool) != part and "unknown" not in (part or {})]
    if not differ:
        return Verdict(code=CHECK.code, place=server.place, outcome=Outcome.PASS)
    if unknown:
        return Verdict(code=CHECK.code, place=server.place, outcome=Outcome.UNKNOWN, reason=unknown[0])
    message = Text(
        en=f"{', '.join(differ)} is not as it stood before the change",
        zh=f"{'、'.join(differ)} 与修改前不一致",
    )
    evidence = tuple(
        Evidence(command=tool, excerpt=f"before: {before[tool]}\nnow: {now.get(tool)}"[:800]) for tool in differ
    )
    wrong = finding(CHECK.code, server.place, message, remedy="rankready firewall status", evidence=evidence)
    return Verdict(code=CHECK.code, place=server.place, outcome=Outcome.FAIL, findings=(wrong,))


async def _judged(site: Site, seen: Seen, *, extra: Mapping[str, Any] | None = None, strict: bool = False) -> Record:
    tested = await connect_test(site)
    for name, reason in (tested.absent or {}).items():
        site.say(Text(en=f"{name}: left out of the connection test: {reason}", zh=f"{name}：未参与连接测试：{reason}"))
    judged = tuple(proven(v, tested) for v in verdicts((CHECK,), site.cluster, seen))
    parts = {**(extra or {}), "connects": [c.json() for c in tested.connects]}
    return site.record("firewall", exit_code(judged, strict=strict), verdicts=judged, extra=parts)
