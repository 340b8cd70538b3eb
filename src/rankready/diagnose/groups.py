"""Ranks that differ from each other: nobody is first there, the sides are compared instead (facts/logs 9.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event, Line

_SHOWN = {"0": "off", "1": "on"}


def groups(case: Case) -> Blame | None:
    """Return the first group verdict that holds: versions, TLS, arguments."""
    return versions(case) or tls(case) or arguments(case)


def versions(case: Case) -> Blame | None:
    """Name both versions and every server of each side; a peer's side is known from who reported what."""
    told = [e for e in case.of("version_differs") if e.fields.get("own") and e.fields.get("other")]
    if not told:
        return None
    sides: dict[str, set[str]] = defaultdict(set)
    for event in told:
        sides[event.fields["own"]].add(event.host)
    for event in told:
        other = event.fields["other"]
        peers = {case.roster.host_of(p) for p in _peers_near(case, event)} - {"", event.host}
        quiet = set(case.roster.names) - set().union(*sides.values())
        sides[other] |= peers - set().union(*(s for v, s in sides.items() if v != other)) or (
            quiet if not sides[other] else set()
        )
    named = {v: sorted(h, key=case.roster.names.index) for v, h in sides.items()}
    first = told[0]
    lines = (first.line, *(e.line for e in told if e.fields["own"] != first.fields["own"]))
    return Blame(
        kind="version_differs",
        hosts=tuple(h for h in case.roster.names if any(h in s for s in named.values())),
        at=first.at,
        certainty=Certainty.SURE,
        lines=lines[:2],
        codes=("EI0008",),
        fields={"sides": "; ".join(f"{v}: {', '.join(h) or '?'}" for v, h in named.items())},
        witnesses=len({e.rank for e in told}),
    )


def _peers_near(case: Case, event: Event) -> Iterable[int]:
    """The peers to which the same rank was making a link within a second."""
    for edge in case.of("link_edge"):
        peer = edge.number("peer")
        near = edge.at is not None and event.at is not None and abs(edge.at - event.at) <= 1.0
        if edge.rank == event.rank and near and peer is not None:
            yield peer


def tls(case: Case) -> Blame | None:
    """Compare TLS switches where links failed, or where HCCL itself says that they differ; a tie names both sides."""
    failed = case.of("socket_wait", "link_row", "tls_differs")
    if not failed:
        return None
    switches = _switches(case)
    told = case.of("tls_differs")
    counted = Counter(on for on, _ in switches.values())
    if len(counted) < 2:  # noqa: PLR2004  (nobody differs)
        return _told(case, told) if told else None
    fewest = min(counted.values())
    minority = [v for v, n in counted.items() if n == fewest]
    ranks = tuple(r for r in case.roster.ranks if r in switches and switches[r][0] in minority)
    wrong = minority[0]
    other = next(r for r in case.roster.ranks if r in switches and switches[r][0] != switches[ranks[0]][0])
    began = min((e.at for e in failed if e.at is not None), default=None)
    waited = any(e.kind != "tls_differs" for e in failed)
    return Blame(
        kind="tls_differs",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=None if began is None else began - (case.connect_s if waited else 0.0),
        certainty=Certainty.SURE if not case.unread() else Certainty.LIKELY,
        lines=(switches[ranks[0]][1], switches[other][1], failed[0].line),
        codes=("TLS", "EI0006") if not told else ("TLS", "EI0016"),
        fields={"minority": _SHOWN[wrong], "majority": _SHOWN["1" if wrong == "0" else "0"]},
        witnesses=len(switches),
    )


def _switches(case: Case) -> dict[int, tuple[str, Line]]:
    """Rank → its TLS switch and the line that says so: the device's own line, a link table's column, a later look."""
    found: dict[int, tuple[str, Line]] = {}
    for event in case.of("tls"):
        if event.rank is not None:
            found[event.rank] = (event.fields["on"], event.line)
    for event in case.of("link_row"):
        state = {"enable": "1", "disable": "0"}.get((event.fields.get("tls") or "").lower())
        if event.rank is not None and state is not None:
            found.setdefault(event.rank, (state, event.line))
    for switch in case.switches:
        rank = case.roster.at(switch.host, switch.device)
        if rank is not None:
            found.setdefault(rank, (str(int(switch.on)), switch.line))
    return found


def _told(case: Case, told: tuple[Event, ...]) -> Blame | None:
    """HCCL lists who has it on and who has it off."""
    for event in told:
        on, off = (_numbers(event.fields.get(side)) for side in ("on", "off"))
        if on and off:
            few = on if len(on) <= len(off) else off
            both = tuple(sorted({*on, *off})) if len(on) == len(off) else few
            return Blame(
                kind="tls_differs",
                hosts=case.hosts_of(both),
                ranks=both,
                at=event.at,
                certainty=Certainty.SURE,
                lines=(event.line,),
                codes=("TLS", "EI0016"),
                fields={"minority": "on" if few is on else "off", "majority": "off" if few is on else "on"},
                witnesses=len(told),
            )
    return None


def arguments(case: Case) -> Blame | None:
    """Let the ranks vote over the item that differs; the minority called it otherwise."""
    told = [e for e in case.of("arguments_differ") if e.fields.get("item") and e.rank is not None]
    if not told:
        return None
    item = told[0].fields["item"]
    values: dict[int, str] = {}
    for event in told:
        if event.fields["item"] == item and event.rank is not None:
            values.setdefault(event.rank, event.fields["own"])
            if (peer := event.number("peer")) is not None:
                values.setdefault(peer, event.fields["other"])
    counted = Counter(values.values())
    minority = [v for v, n in counted.items() if n == min(counted.values())] if len(counted) > 1 else []
    ranks = tuple(r for r in sorted(values) if values[r] in minority)
    if not ranks:
        return _only_silent(case, told, values)
    others = next((v for v in counted if v not in minority), told[0].fields["other"])
    line = next((e.line for e in told if e.rank in ranks), told[0].line)
    return Blame(
        kind="arguments_differ",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=told[0].at,
        certainty=Certainty.SURE if len(minority) == 1 else Certainty.LIKELY,
        lines=(line, *(e.line for e in told if e.line != line)),
        codes=("EI0005",),
        fields={"item": item, "own": values[ranks[0]], "other": others},
        place_known=len(minority) == 1,
        witnesses=len(told),
    )


def _only_silent(case: Case, told: list[Event], values: Mapping[int, str]) -> Blame | None:
    """All that spoke agree: the one that did not is the other side."""
    silent = tuple(r for r in case.roster.ranks if r not in values)
    if not silent:
        return None
    return Blame(
        kind="arguments_differ",
        hosts=case.hosts_of(silent),
        ranks=silent,
        at=told[0].at,
        certainty=Certainty.LIKELY if len(silent) == 1 else Certainty.MAYBE,
        lines=tuple(e.line for e in told),
        codes=("EI0005",),
        fields={"item": told[0].fields["item"], "own": told[0].fields["other"], "other": told[0].fields["own"]},
        place_known=len(silent) == 1,
        witnesses=len(told),
    )


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(p) for p in (text or "").replace(" ", "").split(",") if p.isdecimal())
