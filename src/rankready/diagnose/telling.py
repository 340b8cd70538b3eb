"""A verdict as `why` tells it: the keys of its JSON, with texts in both languages (facts/logs 12.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankready.diagnose.blame import MOST_EVIDENCE
from rankready.diagnose.stamps import clock, shown
from rankready.diagnose.verdict import Outcome
from rankready.kind.signature import Role
from rankready.model.hostlist import number_runs
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.diagnose.blame import Blame
    from rankready.diagnose.case import Case
    from rankready.diagnose.verdict import Verdict
    from rankready.kind.signature import Fault

LONGEST = 300
SHIFT_S = 1.0


class _Fields(dict[str, str]):
    """What lines told; a name that they did not tell is a question mark."""

    def __missing__(self, _key: str) -> str:
        return "?"


def tell(case: Case, verdict: Verdict, faults: Mapping[str, Fault]) -> dict[str, Any]:
    """Return outcome, cause, suspects, waited, evidence, timeline, not_checked, remedy, check and notes.

    ``check`` are the codes that can see the fault on the cluster, ``confirm`` the command that runs them.
    """
    blame = verdict.blame or (verdict.suspects[0] if verdict.suspects else None)
    fault = faults.get(blame.kind, faults["unknown"]) if blame else None
    named = verdict.outcome in (Outcome.CAUSE, Outcome.SUSPECT)
    return {
        "outcome": verdict.outcome.value,
        "cause": _cause(case, blame, fault) if named and blame and fault else None,
        "suspects": [_suspect(case, b, faults) for b in verdict.suspects],
        "waited": waited(case, verdict),
        "evidence": [_line(line) for line in (blame.lines if blame else ())][:MOST_EVIDENCE],
        "timeline": timeline(case, verdict),
        "not_checked": not_checked(case),
        "remedy": _filled(fault.mend, blame) if fault and blame else None,
        "check": fault.check if fault else "",
        "confirm": f"rankready check --only {fault.check}" if fault and fault.check else "",
        "notes": _notes(case, verdict),
    }


def _cause(case: Case, blame: Blame, fault: Fault) -> dict[str, Any]:
    return {
        "kind": fault.told_as or blame.kind,
        "sign": blame.kind,
        "code": fault.code,
        "codes": list(blame.codes),
        "servers": list(blame.hosts),
        "ranks": None if blame.ranks is None else list(blame.ranks),
        "devices": _devices(case, blame),
        "time": None if blame.at is None else shown(blame.at),
        "certainty": blame.certainty.value,
        "title": _title(case, blame, fault),
    }


def _title(case: Case, blame: Blame, fault: Fault) -> Text:
    """Where, what, when: ``node02 / NPU 1 / rank 5: was killed …, 09:05:00``."""
    what = _filled(fault.title, blame)
    place = _place(case, blame)
    when = "" if blame.at is None else clock(blame.at)
    return Text(
        en=f"{place}{': ' if place else ''}{what.en}{f', at {when}' if when else ''}",
        zh=f"{place}{'：' if place else ''}{what.zh}{f'，时间 {when}' if when else ''}",
    )


def _place(case: Case, blame: Blame) -> str:
    ranks = blame.ranks or ()
    parts = [", ".join(blame.hosts[:4]) + (f" +{len(blame.hosts) - 4}" if len(blame.hosts) > 4 else "")]  # noqa: PLR2004  (a screen's width)
    if len(ranks) == 1:
        device = case.roster.by_rank[ranks[0]].device if ranks[0] in case.roster.by_rank else None
        parts += [f"NPU {device}"] if device is not None else []
        parts.append(f"rank {ranks[0]}")
    elif ranks:
        parts.append(f"rank {number_runs(ranks)}")
    return " / ".join(p for p in parts if p)


def _devices(case: Case, blame: Blame) -> list[str]:
    found = []
    for rank in blame.ranks or ():
        process = case.roster.by_rank.get(rank)
        if process is not None and process.device is not None:
            found.append(f"{process.host}/{process.device}")
    return found


def _filled(text: Text, blame: Blame) -> Text:
    fields = _Fields(blame.fields)
    for name in ("span", "owner", "server"):
        fields.setdefault(name, "")
    return Text(en=text.en.format_map(fields), zh=text.zh.format_map(fields))


def _suspect(case: Case, blame: Blame, faults: Mapping[str, Fault]) -> dict[str, Any]:
    fault = faults.get(blame.kind, faults["unknown"])
    process = [case.roster.by_rank[r] for r in blame.ranks or () if r in case.roster.by_rank]
    places = [f"{p.host}/{p.device}" if p.device is not None else p.host for p in process]
    return {
        "places": list(dict.fromkeys(places)) or list(blame.hosts),
        "servers": list(blame.hosts),
        "ranks": None if blame.ranks is None else list(blame.ranks),
        "kind": blame.kind,
        "witnesses": blame.witnesses,
        "certainty": blame.certainty.value,
        "reason": _filled(fault.title, blame),
        "next_test": _filled(fault.mend, blame),
    }


def _line(line: Any) -> dict[str, Any]:  # noqa: ANN401  (a Line; kept short for the JSON)
    return {"file": line.file, "line": line.number, "offset": line.offset, "text": line.text.strip()[:LONGEST]}


def waited(case: Case, verdict: Verdict) -> list[dict[str, Any]]:
    """Tell who only waited, was cut off, or was stopped, and how long after the first fault each said so."""
    blamed = set((verdict.blame.ranks if verdict.blame else None) or ())
    if verdict.outcome is Outcome.NONE:
        return []
    first = verdict.blame.at if verdict.blame else None
    found = []
    for rank in case.roster.ranks:
        sign = case.first(rank, Role.TIMEOUT, Role.LEFT, Role.PEER, Role.GROUP)
        end = case.ends.get(rank)
        stopped = bool(end and end.stopped)
        if rank in blamed or (sign is None and not stopped):
            continue
        at = sign.at if sign is not None else (end.at if end else None)
        found.append(
            {
                "rank": rank,
                "server": case.roster.host_of(rank),
                "code": next(iter(sign.signature.codes), sign.kind) if sign else "stopped",
                "after_s": round(at - first, 1) if at is not None and first is not None else None,
            }
        )
    return found


def timeline(case: Case, verdict: Verdict) -> list[dict[str, Any]]:
    """Return each rank's first sign, its end and its exit, in order of rank."""
    blamed = set((verdict.blame.ranks if verdict.blame else None) or ())
    rows = []
    for rank in case.roster.ranks:
        sign = case.first(rank, *_SIGNS)
        end = case.ends.get(rank)
        process = case.roster.by_rank[rank]
        rows.append(
            {
                "rank": rank,
                "server": process.host,
                "device": process.device,
                "started": None if rank not in case.began else shown(case.began[rank]),
                "first_sign": None if sign is None or sign.at is None else shown(sign.at, fine=True),
                "sign": None if sign is None else sign.signature.title,
                "ended": None if end is None or end.at is None else shown(end.at),
                "exit": None if end is None else end.exit,
                "signal": None if end is None else end.signal,
                "stopped": bool(end and end.stopped),
                "cause": rank in blamed,
            }
        )
    return rows


_SIGNS = (Role.LOCAL, Role.PEER, Role.GROUP, Role.TIMEOUT, Role.LEFT)


def not_checked(case: Case) -> list[str]:
    """List what was not read: hosts, parts that the collector missed, ranks without a word."""
    found = [f"{h}: not reachable" for h in case.collected.unreachable]
    found += [f"{h}: {what}" for h, what in case.collected.gaps]
    absent = [r for r in case.unread() if case.roster.host_of(r) not in case.collected.unreachable]
    if absent:
        found.append(f"rank {number_runs(absent)}: no log")
    if not case.ascend_read and case.roster.ranks:
        found.append("no Ascend logs on any server")
    for host in case.roster.names:
        if case.ascend_read and host in case.seen_hosts and host not in case.ascend_read:
            found.append(f"{host}: no Ascend logs")
        if host not in case.collected.unreachable and host not in case.kernel_read and host in case.seen_hosts:
            found.append(f"{host}: no kernel log")
    return found


def _notes(case: Case, verdict: Verdict) -> list[Text]:
    notes = []
    for host, offset in case.clocks.items():
        if abs(offset.seconds) > SHIFT_S or offset.how in ("unknown", "corrected"):
            how = _HOW[offset.how]
            notes.append(
                Text(
                    en=f"{host}: its clock was {offset.seconds:+.0f} s off ({how.en}); all times here are corrected",
                    zh=f"{host}：时钟偏差 {offset.seconds:+.0f} 秒（{how.zh}），此处时间均已校正",
                )
            )
        elif offset.how == "measured" and offset.error_s > SHIFT_S:
            notes.append(_doubt(host, offset.error_s))
    notes += [
        Text(
            en=f"{host}: its clock was set back while the job ran; its times do not tell what came first",
            zh=f"{host}：作业运行期间时钟被回拨，其时间不能用来判断先后",
        )
        for host in sorted(case.set_back)
    ]
    if verdict.outcome is Outcome.NONE:
        notes.append(Text(en="nothing went wrong", zh="未发现故障"))
    return notes


def _doubt(host: str, late: float) -> Text:
    """A server that began late, or a clock that was measured wrongly: from its own times alone both look alike."""
    return Text(
        en=f"{host}: its first process began {late:.0f} s after the job; if its clock was measured wrongly, "
        f"its times here are off by as much",
        zh=f"{host}：首个进程在作业启动 {late:.0f} 秒后才开始；若其时钟测量有误，此处时间也相差同样多",
    )


_HOW = {
    "measured": Text(en="measured", zh="实测"),
    "estimated": Text(en="estimated", zh="估算"),
    "corrected": Text(en="corrected by what the ranks heard together", zh="按各 rank 同时收到的消息校正"),
    "unknown": Text(en="guessed from its start", zh="按启动时刻推测"),
}
