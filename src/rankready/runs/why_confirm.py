"""Ask the cluster whether the first fault that the logs name can still be seen; the answer of the logs stands anyhow.

Logs tell of the moment of the fault, a check of the present: a link that is up again is no counter-proof. So a check
that finds the fault confirms it, and one that finds nothing only says that it is not to be seen now.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rankready.diagnose.stamps import whole
from rankready.kind.check import verdicts
from rankready.kind.question import Scope
from rankready.model.errors import PlanError
from rankready.model.finding import Outcome
from rankready.model.observed.device import LinkHistory, LinkState
from rankready.model.place import PlaceKind
from rankready.model.snapshot import Gap, Seen
from rankready.model.text import Text
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.kind.check import Check
    from rankready.model.cluster import Server
    from rankready.model.finding import Evidence, Verdict
    from rankready.model.place import Place
    from rankready.runs.site import Site

CONFIRM_S = 45.0
NEAR_S = 180.0  # clocks of a device and of its server are not one
MOST_EVIDENCE = 3
EXCERPT = 400
BAD = (Outcome.FAIL, Outcome.WARN, Outcome.IMPLIED)
LOST = "HST001"


class State(StrEnum):
    """What a look at the cluster says of the fault."""

    CONFIRMED = "confirmed"
    NOT_SEEN = "not_confirmed"  # it may have been mended since
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blamed:
    """What is looked for, and where: servers by name, and devices as ``server/device`` where the fault is one's own."""

    codes: tuple[str, ...]
    servers: tuple[str, ...]
    devices: tuple[str, ...] = ()


def blamed(told: Mapping[str, Any]) -> Blamed | None:
    """Return what an answer of `why` names and a check can see; None where no check can."""
    codes = tuple(c for c in str(told.get("check") or "").split(",") if c)
    place = told.get("cause") or next(iter(told.get("suspects") or ()), None)
    if not codes or not isinstance(place, dict):
        return None
    devices = place.get("devices") or [p for p in place.get("places") or () if "/" in p]
    return Blamed(codes=codes, servers=tuple(place.get("servers") or ()), devices=tuple(devices))


async def confirm(site: Site, told: Mapping[str, Any], within_s: float = CONFIRM_S) -> dict[str, Any] | None:
    """Run the checks that an answer of `why` names, at the places that it names; None where no check can tell.

    Keys: codes, state (confirmed, not_confirmed, not_checked), text, evidence (command, excerpt, at). Takes at most
    ``within_s`` seconds, and never raises for what the cluster does or says.
    """
    wanted = blamed(told)
    if wanted is None:
        return None
    known = {s.name for s in site.cluster.servers}
    named = [s for s in wanted.servers if s in known]
    if not named:
        return _answer(
            wanted, State.NOT_CHECKED, _unchecked(f"{', '.join(wanted.servers) or '?'}: not in cluster.yaml")
        )
    try:
        async with asyncio.timeout(within_s):
            return await _looked(site, wanted, told)
    except TimeoutError:
        return _answer(wanted, State.NOT_CHECKED, _unchecked(f"no answer within {within_s:g} s"))
    except PlanError as error:  # the logs have answered; what stands in the way of a look is told, not raised
        return _answer(wanted, State.NOT_CHECKED, _unchecked(str(error).splitlines()[0]))


async def _looked(site: Site, wanted: Blamed, told: Mapping[str, Any]) -> dict[str, Any]:
    chosen = checks(wanted.codes)
    servers = _servers(site, wanted, chosen, told)
    codes = ", ".join(wanted.codes)
    where = ", ".join(wanted.devices or wanted.servers)
    site.say(Text(en=f"checking {codes} at {where} now", zh=f"正在现场检查 {where} 的 {codes}"))
    snapshot = await observe_planned(site, {need for c in chosen for need in c.needs}, servers)
    judged = verdicts(chosen, intended(site, snapshot), Seen(snapshot))
    ours = [v for v in judged if _concerns(v, wanted)]
    bad = [v for v in ours if v.outcome in BAD or (v.code == LOST and v.outcome is Outcome.UNKNOWN)]
    if bad:
        return _confirmed(wanted, bad)
    found = Seen(snapshot)
    if recorded := _recorded(found, wanted, told):
        return recorded
    passed = [v for v in ours if v.outcome is Outcome.PASS]
    if not passed:
        reasons = [v.reason for v in ours if v.reason]
        gaps = [g.reason for g in snapshot.facts.values() if isinstance(g, Gap)]
        return _answer(wanted, State.NOT_CHECKED, _unchecked(next(iter((*reasons, *gaps)), "nothing was answered")))
    needs = {c.code: c.needs for c in chosen}
    seen = tuple(e for v in passed for need in needs[v.code] for e in found.evidence(v.place, need))
    text = Text(
        en=f"not to be seen now: by {codes}, {where} is as planned; it may have been mended since, the logs stand",
        zh=f"现场未见：按 {codes} 检查，{where} 符合规划；可能其后已恢复，日志结论不变",
    )
    return _answer(wanted, State.NOT_SEEN, text, seen)


def _servers(site: Site, wanted: Blamed, chosen: Sequence[Check], told: Mapping[str, Any]) -> list[Server]:
    """The blamed servers; for a rule that compares servers, all of the job."""
    names = set(wanted.servers)
    if any(c.scope is Scope.CLUSTER for c in chosen):
        names |= {str(row.get("server")) for row in told.get("timeline") or ()}
    return [s for s in site.cluster.servers if s.name in names]


def _concerns(verdict: Verdict, wanted: Blamed) -> bool:
    places: tuple[Place, ...] = (verdict.place, *(p for f in verdict.findings for p in f.blames))
    return any(_is_there(place, wanted) for place in places)


def _is_there(place: Place, wanted: Blamed) -> bool:
    if place.kind is PlaceKind.CLUSTER:
        return True
    if place.kind is PlaceKind.DEVICE and wanted.devices:
        return str(place) in wanted.devices
    return place.owner.name in wanted.servers


def _confirmed(wanted: Blamed, bad: Sequence[Verdict]) -> dict[str, Any]:
    first = min(bad, key=lambda v: BAD.index(v.outcome) if v.outcome in BAD else 0)
    said = first.findings[0].message if first.findings else Text(en=first.reason, zh=first.reason_zh or first.reason)
    text = Text(
        en=f"confirmed now by {first.code} at {first.place}: {said.en}",
        zh=f"现场由 {first.code} 在 {first.place} 证实：{said.zh}",
    )
    evidence = tuple(e for v in (first, *bad) for f in v.findings for e in f.evidence)
    return _answer(wanted, State.CONFIRMED, text, evidence)


def _recorded(seen: Seen, wanted: Blamed, told: Mapping[str, Any]) -> dict[str, Any] | None:
    """A port that is up again keeps when it fell: at the time of the fault, that is the fault."""
    cause = told.get("cause")
    at = whole(str(cause.get("time") or "")) if isinstance(cause, dict) else None
    if at is None:
        return None
    for place, history in seen.each(LinkHistory):
        falls = [said for said, state in history.changes if state is LinkState.DOWN]
        near = [s for s in falls if (t := whole(s)) is not None and abs(t - at) <= NEAR_S]
        if near and _is_there(place, wanted):
            text = Text(
                en=f"confirmed by the record that {place} keeps of its link: down at {near[0].strip()}; it is up now",
                zh=f"{place} 自身的链路记录证实：{near[0].strip()} 断开；现已恢复",
            )
            return _answer(wanted, State.CONFIRMED, text, seen.evidence(place, LinkHistory))
    return None


def _unchecked(reason: str) -> Text:
    return Text(en=f"could not be checked now: {reason}", zh=f"目前无法现场检查：{reason}")


def _answer(wanted: Blamed, state: State, text: Text, evidence: Sequence[Evidence] = ()) -> dict[str, Any]:
    shown = [asdict(e) | {"excerpt": e.excerpt[:EXCERPT]} for e in dict.fromkeys(evidence)]
    return {"codes": list(wanted.codes), "state": state.value, "text": text, "evidence": shown[:MOST_EVIDENCE]}
