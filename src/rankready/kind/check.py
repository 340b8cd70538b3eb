"""The shape of one rule, and how its findings and the gaps among its facts become verdicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Finding, Outcome, Severity, Verdict
from rankready.model.snapshot import Gap, GapKind
from rankready.model.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Evidence
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen

_ORDER = (Outcome.PASS, Outcome.WARN, Outcome.UNKNOWN, Outcome.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """A place where a rule can't decide although its facts are there: a part of one is missing, or nothing compares.

    UNKNOWN; with ``skip`` SKIP, where there is nothing to judge. A failure of one of the check's ``after`` at the
    place makes it IMPLIED.
    """

    place: Place
    reason: Text
    skip: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule: ``judge(cluster, seen)`` yields its findings and what it can't settle, whatever the scope.

    ``needs`` are the fact types that it reads at each of its places; ``scope`` says what those places are. An UNSET
    gap is an answer and left to the judge; UNSUPPORTED makes SKIP; any other gap makes UNKNOWN, and so does a fact
    whose needed part is missing: the judge says so with an ``Unsettled``. ``after`` are codes whose failure at the
    same place, its owner, or a blamed place makes a finding here IMPLIED.
    """

    code: str
    name: str
    title: Text
    scope: Scope
    needs: tuple[type, ...]
    judge: Callable[[Cluster, Seen], Iterator[Finding | Unsettled]]
    severity: Severity = Severity.ERROR
    after: tuple[str, ...] = ()

    def places(self, cluster: Cluster) -> tuple[Place, ...]:
        """Where this check gives a verdict."""
        match self.scope:
            case Scope.DEVICE:
                return tuple(cluster.devices())
            case Scope.SERVER:
                return tuple(s.place for s in cluster.servers)
            case Scope.CLUSTER:
                return (cluster.place,)


def unsettled(place: Place, en: str, zh: str, *, skip: bool = False) -> Unsettled:
    """Say that nothing can be said there, and why; ``skip``: there is nothing to judge."""
    return Unsettled(place=place, reason=Text(en=en, zh=zh), skip=skip)


def finding(  # noqa: PLR0913  (a finding has this many parts; all but three are named)
    code: str,
    place: Place,
    message: Text,
    *,
    remedy: str | Text,
    severity: Severity = Severity.ERROR,
    certainty: Certainty = Certainty.SURE,
    evidence: tuple[Evidence, ...] = (),
    blames: tuple[Place, ...] = (),
) -> Finding:
    """Make a finding; the engine adds the evidence of the facts that the check needs."""
    return Finding(
        code=code,
        severity=severity,
        place=place,
        message=message,
        remedy=remedy,
        certainty=certainty,
        evidence=evidence,
        blames=blames,
    )


def verdicts(checks: Iterable[Check], cluster: Cluster, seen: Seen) -> tuple[Verdict, ...]:
    """Judge by every check, then mark what follows from a root finding. Deterministic: check order, cluster order."""
    look = _Look(cluster, seen)
    plain = [v for check in checks for v in _judged(check, look)]
    after = {check.code: check.after for check in checks}
    failed = {(v.code, v.place) for v in plain if v.outcome is Outcome.FAIL}
    return tuple(_implied(v, after.get(v.code, ()), failed, told=(v.code, v.place) in look.told) for v in plain)


class _Look:
    """What all checks of one look share: their places and the gaps by kind of fact, each gathered once.

    ``told``: (code, place) of what a judge itself left open.
    """

    def __init__(self, cluster: Cluster, seen: Seen) -> None:
        self.cluster, self.seen = cluster, seen
        self.told: set[tuple[str, Place]] = set()
        self._places: dict[Scope, dict[Place, None]] = {}
        self._gaps: dict[type, list[tuple[Place, Gap]]] = {}
        for (where, kind), fact in seen.snapshot.facts.items():
            missing = self._gaps.setdefault(kind, [])
            if isinstance(fact, Gap) and fact.kind is not GapKind.UNSET:
                missing.append((where, fact))

    def places(self, check: Check) -> dict[Place, None]:
        """Return where a check gives a verdict, in cluster order."""
        if check.scope not in self._places:
            self._places[check.scope] = dict.fromkeys(check.places(self.cluster))
        return self._places[check.scope]

    def asked(self, check: Check) -> bool:
        """Tell whether anything that the check needs was asked."""
        return not check.needs or any(need in self._gaps for need in check.needs)

    def missing(self, check: Check) -> list[tuple[Place, Gap]]:
        """Return every gap among the kinds of facts that a check needs."""
        return [item for need in check.needs for item in self._gaps.get(need, ())]


def _judged(check: Check, look: _Look) -> Iterator[Verdict]:
    found: dict[Place, list[Finding]] = {}
    left: dict[Place, list[Unsettled]] = {}
    for item in check.judge(look.cluster, look.seen):
        if isinstance(item, Unsettled):
            left.setdefault(item.place, []).append(item)
            continue
        evidence = item.evidence or tuple(e for need in check.needs for e in look.seen.evidence(item.place, need))
        found.setdefault(item.place, []).append(replace(item, evidence=evidence))
    places = look.places(check)
    spoken = dict.fromkeys((*found, *left))
    if check.scope is Scope.CLUSTER and spoken and not _open_elsewhere(check, look, found):
        places = {}  # what is wrong somewhere is not as planned as a whole; the findings' own places speak
    for place in (*places, *(p for p in spoken if p not in places)):
        yield _verdict(check, place, look, findings=tuple(found.get(place, ())), left=left.get(place, ()))


def _open_elsewhere(check: Check, look: _Look, found: Mapping[Place, Sequence[Finding]]) -> bool:
    """Tell whether a cluster-wide rule of which nothing fails lacks facts: warnings don't make it complete."""
    failing = any(_outcome(f) is Outcome.FAIL for findings in found.values() for f in findings)
    return not failing and bool(look.missing(check))


def _verdict(
    check: Check, place: Place, look: _Look, *, findings: tuple[Finding, ...], left: Sequence[Unsettled]
) -> Verdict:
    """A place is as bad as its worst: what is not known weighs more than a warning, less than a failure."""
    worst = max((_outcome(f) for f in findings), key=_ORDER.index, default=Outcome.PASS)
    if worst is Outcome.FAIL:
        return Verdict(code=check.code, place=place, outcome=worst, findings=findings)
    outcome, why = _gap(check, place, look)
    if outcome is not Outcome.UNKNOWN and left:
        unknown = [item for item in left if not item.skip]
        outcome, why = (Outcome.UNKNOWN if unknown else Outcome.SKIP), (unknown or list(left))[0].reason
        look.told.add((check.code, place))
    if outcome is Outcome.PASS or (outcome is Outcome.SKIP and worst is not Outcome.PASS):
        return Verdict(code=check.code, place=place, outcome=worst, findings=findings)
    return Verdict(
        code=check.code, place=place, outcome=outcome, findings=findings, reason=why.en, reason_zh=_other(why)
    )


def _gap(check: Check, place: Place, look: _Look) -> tuple[Outcome, Text]:
    """Return what the gaps among a check's facts make of a place; a place outside of its scope is not asked for."""
    if check.scope is Scope.CLUSTER:
        return _cluster_gap(check, look) if place == look.cluster.place else (Outcome.PASS, _NO_REASON)
    if place not in look.places(check):
        return Outcome.PASS, _NO_REASON
    gaps = [g for n in check.needs if (g := look.seen.gap(place, n)) is not None and g.kind is not GapKind.UNSET]
    return _gap_outcome(gaps), gaps[0].why if gaps else _NO_REASON


def _cluster_gap(check: Check, look: _Look) -> tuple[Outcome, Text]:
    """A cluster-wide rule is proven only when no fact of its kinds is missing anywhere."""
    if not look.asked(check):
        return Outcome.UNKNOWN, Text(en="not asked", zh="未询问")
    missing = look.missing(check)
    if not missing:
        return Outcome.PASS, _NO_REASON
    (where, first), rest = missing[0], len(missing) - 1
    why = Text(
        en=f"{where}: {first.why.en}" + (f" (and {rest} more)" if rest else ""),
        zh=f"{where}：{first.why.zh}" + (f"（另有 {rest} 处）" if rest else ""),
    )
    return _gap_outcome([gap for _, gap in missing]), why


_NO_REASON = Text(en="", zh="")


def _other(reason: Text) -> str:
    return reason.zh if reason.zh != reason.en else ""


def _gap_outcome(gaps: Sequence[Gap]) -> Outcome:
    if not gaps:
        return Outcome.PASS
    return Outcome.SKIP if all(g.kind is GapKind.UNSUPPORTED for g in gaps) else Outcome.UNKNOWN


def _outcome(item: Finding) -> Outcome:
    match item.severity:
        case Severity.ERROR:
            return Outcome.FAIL
        case Severity.WARNING:
            return Outcome.WARN
        case Severity.NOTE:
            return Outcome.PASS


def _implied(verdict: Verdict, after: tuple[str, ...], failed: set[tuple[str, Place]], *, told: bool) -> Verdict:
    """Findings follow from a root; so does what a judge left open, but never a fact that was not learned."""
    if verdict.outcome not in (Outcome.FAIL, Outcome.WARN) and not (told and verdict.outcome is Outcome.UNKNOWN):
        return verdict
    blamed = [p for f in verdict.findings for p in f.blames]
    for place in (verdict.place, verdict.place.owner, *blamed):
        for code in after:
            if (code, place) in failed:
                return replace(verdict, outcome=Outcome.IMPLIED, reason=f"{code} {place}", reason_zh="")
    return verdict
