"""The shape of one rule, and how its findings and the gaps among its facts become verdicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.kind.question import Scope
from rankready.model.finding import Certainty, Finding, Outcome, Severity, Verdict
from rankready.model.snapshot import Gap, GapKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankready.model.cluster import Cluster
    from rankready.model.finding import Evidence
    from rankready.model.place import Place
    from rankready.model.snapshot import Seen
    from rankready.model.text import Text

Judge = "Callable[[Cluster, Seen], Iterator[Finding]]"

_ORDER = (Outcome.PASS, Outcome.WARN, Outcome.UNKNOWN, Outcome.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule: ``judge(cluster, seen)`` yields its findings, whatever the scope.

    ``needs`` are the fact types that it reads at each of its places; ``scope`` says what those places are. An UNSET
    gap is an answer and left to the judge; UNSUPPORTED makes SKIP; any other gap makes UNKNOWN. ``after`` are codes
    whose failure at the same place, its owner, or a blamed place makes a finding here IMPLIED.
    """

    code: str
    name: str
    title: Text
    scope: Scope
    needs: tuple[type, ...]
    judge: Callable[[Cluster, Seen], Iterator[Finding]]
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
    plain = [v for check in checks for v in _judged(check, cluster, seen)]
    after = {check.code: check.after for check in checks}
    failed = {(v.code, v.place) for v in plain if v.outcome is Outcome.FAIL}
    return tuple(_implied(v, after.get(v.code, ()), failed) for v in plain)


def _judged(check: Check, cluster: Cluster, seen: Seen) -> Iterator[Verdict]:
    found: dict[Place, list[Finding]] = {}
    for item in check.judge(cluster, seen):
        evidence = item.evidence or tuple(e for need in check.needs for e in seen.evidence(item.place, need))
        found.setdefault(item.place, []).append(replace(item, evidence=evidence))
    places = check.places(cluster)
    if check.scope is Scope.CLUSTER and found:
        places = ()  # what is wrong somewhere is not as planned as a whole; the findings' own places speak
    for place in (*places, *(p for p in found if p not in places)):
        yield _verdict(check, place, tuple(found.get(place, ())), seen)


def _verdict(check: Check, place: Place, findings: tuple[Finding, ...], seen: Seen) -> Verdict:
    if findings:
        worst = max((_outcome(f) for f in findings), key=_ORDER.index)
        return Verdict(code=check.code, place=place, outcome=worst, findings=findings)
    if check.scope is Scope.CLUSTER:
        return _cluster_verdict(check, place, seen)
    gaps = [g for need in check.needs if (g := seen.gap(place, need)) is not None and g.kind is not GapKind.UNSET]
    return Verdict(code=check.code, place=place, outcome=_gap_outcome(gaps), reason=gaps[0].reason if gaps else "")


def _cluster_verdict(check: Check, place: Place, seen: Seen) -> Verdict:
    """A cluster-wide rule is proven only when no fact of its kinds is missing anywhere."""
    missing = [
        (where, gap)
        for (where, kind), gap in seen.snapshot.facts.items()
        if kind in check.needs and isinstance(gap, Gap) and gap.kind is not GapKind.UNSET
    ]
    asked = any(kind in check.needs for _, kind in seen.snapshot.facts)
    if not asked and check.needs:
        return Verdict(code=check.code, place=place, outcome=Outcome.UNKNOWN, reason="not asked")
    if not missing:
        return Verdict(code=check.code, place=place, outcome=Outcome.PASS)
    reason = f"{missing[0][0]}: {missing[0][1].reason}" + (f" (and {len(missing) - 1} more)" if missing[1:] else "")
    outcome = _gap_outcome([gap for _, gap in missing])
    return Verdict(code=check.code, place=place, outcome=outcome, reason=reason)


def _gap_outcome(gaps: list[Gap]) -> Outcome:
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


def _implied(verdict: Verdict, after: tuple[str, ...], failed: set[tuple[str, Place]]) -> Verdict:
    if verdict.outcome not in (Outcome.FAIL, Outcome.WARN):
        return verdict
    blamed = [p for f in verdict.findings for p in f.blames]
    for place in (verdict.place, verdict.place.owner, *blamed):
        for code in after:
            if (code, place) in failed:
                return replace(verdict, outcome=Outcome.IMPLIED, reason=f"{code} {place}")
    return verdict
