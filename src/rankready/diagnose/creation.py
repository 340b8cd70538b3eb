"""A communicator that was never made: which ranks did not come, and why not (facts/logs 9.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankready.diagnose.blame import Blame
from rankready.kind.signature import Role, Stream
from rankready.model.finding import Certainty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankready.diagnose.case import Case
    from rankready.diagnose.event import Event, Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The ranks that did not come, when each that did enter entered, and the lines that tell who is missing."""

    missing: tuple[int, ...]
    entered: Mapping[int, Event]
    opened: float | None
    told: tuple[Event, ...]


def creation(case: Case) -> Blame | None:
    """Judge the missing ranks: late, on the wrong network card, never started, stuck before, or cut off."""
    scene = _scene(case)
    if scene is None:
        return _wrong_card(case, _unmade(case)) if _unmade(case).told else None
    dark = [r for r in scene.missing if r not in case.read]
    late = _late(case, scene)
    wrong = _wrong_card(case, scene)
    if wrong is not None and (late is None or len(wrong.hosts) == len(late.hosts)):
        return wrong if late is None else late
    if late is not None:
        return late
    return _absent(case, scene, dark) if dark else _before_entry(case, scene) or _unreached(case, scene)


def _scene(case: Case) -> Scene | None:
    told = case.of("root_timeout", "unconnected", "creation_wait", "agent_timeout")
    if not told:
        return None
    entered: dict[int, Event] = {}
    for event in case.of("entry", "table_entry"):
        if event.rank is not None and event.number("size") in (None, case.roster.size):
            entered.setdefault(event.rank, event)
    missing = _missing(case, entered)
    if not missing:
        return None
    moments = [e.at for r, e in entered.items() if r not in missing and e.at is not None]
    moments += [e.at for e in case.of("root_entry") if e.at is not None]
    return Scene(missing=missing, entered=entered, opened=min(moments, default=None), told=told)


def _unmade(case: Case) -> Scene:
    """No communicator ever stood, and nobody lists who is missing: somebody waited all the same."""
    stood = bool(case.of("ready")) or not case.of("entry")
    told = () if stood else tuple(e for r in case.waiting() if (e := case.first(r, Role.TIMEOUT, Role.LEFT)))
    return Scene(missing=(), entered={}, opened=None, told=told)


def _missing(case: Case, entered: Mapping[int, Event]) -> tuple[int, ...]:
    """Who did not come: as HCCL lists them; else all but those that it lists as connected; else who never entered."""
    listed = {n for e in case.of("unconnected") for n in _numbers(e.fields["ranks"])}
    if not listed and (seen := {n for e in case.of("connected") for n in _numbers(e.fields["ranks"])}):
        listed = set(range(case.roster.size)) - seen
    if not listed and (case.of("root_timeout") or case.of("creation_wait")):
        listed = {r for r in case.roster.ranks if r not in entered and r in case.read}
        listed |= {r for r in case.roster.ranks if r not in case.read}
    if not listed:
        listed = {e.rank for e in case.of("agent_timeout") if e.rank is not None}
    return tuple(sorted(r for r in listed if r in case.roster.by_rank or r < case.roster.size))


def _late(case: Case, scene: Scene) -> Blame | None:
    """Ranks that entered when the root's patience was already over."""
    if scene.opened is None:
        return None
    gaps = {r: e.at - scene.opened for r in scene.missing if (e := scene.entered.get(r)) and e.at is not None}
    late = {r: gap for r, gap in gaps.items() if gap > case.connect_s}
    ranks = tuple(late) or _said_so(case, scene)
    if not ranks or len(ranks) < len([r for r in scene.missing if r in case.read]):
        return None
    delay = min(late.values()) if late else max(_longest(case, ranks).values())
    guessed = any(case.clocks[h].how == "unknown" for h in case.hosts_of(ranks) if h in case.clocks)
    entry = scene.entered[ranks[0]]
    return Blame(
        kind="late_start",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=scene.opened + case.connect_s,
        certainty=Certainty.LIKELY if guessed else Certainty.SURE,
        lines=(*_why_late(case, ranks), entry.line, scene.told[0].line),
        codes=("EI0015",),
        fields={"late": f"{delay:.0f}", "limit": f"{case.connect_s:.0f}"},
        witnesses=len(scene.told),
    )


def _said_so(case: Case, scene: Scene) -> tuple[int, ...]:
    """Without a clock to trust: the host itself tells that something took longer than the others wait."""
    hosts = case.hosts_of(scene.missing)
    if all(case.clocks[h].how == "measured" for h in hosts if h in case.clocks):
        return ()
    long = _longest(case, scene.missing)
    return tuple(r for r in scene.missing if r in scene.entered and case.roster.host_of(r) in long)


def _longest(case: Case, ranks: Sequence[int]) -> dict[str, float]:
    """Host → the longest time that something took there, by its own words, where it is more than the others wait."""
    found: dict[str, float] = {}
    for event in case.of("waited_long"):
        seconds = float(event.fields["seconds"])
        if event.host in case.hosts_of(ranks) and seconds > case.connect_s:
            found[event.host] = max(seconds, found.get(event.host, 0.0))
    return found


def _why_late(case: Case, ranks: Sequence[int]) -> tuple[Line, ...]:
    """What the late host did meanwhile, where it says so."""
    hosts = case.hosts_of(ranks)
    told = [e for e in case.of("waited_long") if e.host in hosts and float(e.fields["seconds"]) >= case.connect_s / 2]
    return (max(told, key=lambda e: float(e.fields["seconds"])).line,) if told else ()


def _wrong_card(case: Case, scene: Scene) -> Blame | None:
    """HCCL on one side chose a card whose address is not the server's own, or lies in another network."""
    cards = _cards(case)
    hosts = list(dict.fromkeys(case.roster.host_of(r) for r in cards))
    bad = [h for h in hosts if _is_wrong(case, h, cards)]
    if not bad or len(bad) == len(hosts):
        return None
    ranks = tuple(r for r in case.roster.ranks if case.roster.host_of(r) in bad)
    first = next(cards[r] for r in ranks if r in cards)
    right = next(e for r, e in cards.items() if case.roster.host_of(r) not in bad)
    return Blame(
        kind="wrong_nic",
        hosts=tuple(bad),
        ranks=ranks,
        at=first.at,
        certainty=Certainty.SURE,
        lines=(first.line, right.line, scene.told[0].line),
        codes=("EI0015",),
        fields={
            "card": first.fields.get("name") or "?",
            "address": first.fields["address"],
            "others": f"{right.fields.get('name') or '?'} {right.fields['address']}",
            "right": right.fields.get("name") or "eth0",
        },
        witnesses=len(ranks),
    )


def _cards(case: Case) -> dict[int, Event]:
    """Rank → where it tells its card; before 8.5 no line tells the choice, but each says from where it calls."""
    told = {e.rank: e for e in case.of("card") if e.rank is not None and e.fields.get("address")}
    for event in case.of("agent"):
        address, _, name = (event.fields.get("server") or "").partition("%")
        if event.rank is not None and address and name:
            told.setdefault(event.rank, replace(event, fields={**event.fields, "address": address, "name": name}))
    return told


def _is_wrong(case: Case, host: str, cards: Mapping[int, Event]) -> bool:
    mine = next(e for r, e in cards.items() if case.roster.host_of(r) == host)
    address = mine.fields["address"]
    own = case.job.servers.get(host)
    if own:
        # a second card in the servers' own network is as good as the first
        others = [a for h, a in case.job.servers.items() if h != host and a]
        return address != own and not any(_network(address) == _network(a) for a in (own, *others))
    rest = [_network(e.fields["address"]) for r, e in cards.items() if case.roster.host_of(r) != host]
    return bool(rest) and rest.count(_network(address)) == 0 and len(set(rest)) == 1


def _network(address: str) -> str:
    return ".".join(address.split(".")[:2]) if "." in address else address.rpartition(":")[0]


def _absent(case: Case, scene: Scene, dark: Sequence[int]) -> Blame | None:
    """Ranks of which there is no word: never started where their server was read, else not known."""
    hosts = case.hosts_of(dark)
    seen = [h for h in hosts if h in case.seen_hosts and h not in case.collected.unreachable]
    never = tuple(r for r in dark if case.roster.host_of(r) in seen and r not in case.ends)
    if never:
        started = any(case.roster.by_rank[r].pid is not None for r in never if r in case.roster.by_rank)
        return Blame(
            kind="never_started",
            hosts=case.hosts_of(never),
            ranks=never,
            at=scene.opened,
            # with a pid on record it did start: then its log is what is missing
            certainty=Certainty.MAYBE if started else Certainty.LIKELY,
            lines=tuple(e.line for e in scene.told),
            codes=("EI0015",),
            witnesses=len(scene.told),
        )
    return Blame(
        kind="host_silent",
        hosts=hosts,
        ranks=tuple(dark),
        at=None if scene.opened is None else scene.opened + case.connect_s,
        certainty=Certainty.LIKELY if all(h in case.collected.unreachable for h in hosts) else Certainty.MAYBE,
        lines=tuple(e.line for e in scene.told),
        codes=("EI0015",),
        place_known=len(hosts) == 1,
        witnesses=len(scene.told),
    )


def _before_entry(case: Case, scene: Scene) -> Blame | None:
    """Ranks that run but never entered: they stand somewhere before HCCL."""
    logged = {e.rank for e in case.of("limit", "card") if e.stream in (Stream.HOST, Stream.OUTPUT)}
    # a server of which no process opened a log, though what its ranks printed was read, never came that far
    logged |= {r for r in scene.missing if r in case.read and case.roster.host_of(r) not in case.ascend_read}
    ranks = tuple(r for r in scene.missing if r in logged and r not in scene.entered)
    if not ranks or not scene.entered:
        return None
    if long := _longest(case, ranks):
        return _never_entered(case, scene, tuple(r for r in ranks if case.roster.host_of(r) in long))
    return Blame(
        kind="stuck",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=scene.opened,
        certainty=Certainty.MAYBE,
        lines=tuple(e.line for e in scene.told),
        codes=("EI0015",),
        fields={"pid": case.roster.pid_of(ranks[0])},
        place_known=len(case.hosts_of(ranks)) == 1,
        witnesses=len(scene.told),
    )


def _never_entered(case: Case, scene: Scene, ranks: tuple[int, ...]) -> Blame:
    """Ranks that were still busy, by their own words, when the root's patience was over."""
    delay = max(_longest(case, ranks).values())
    return Blame(
        kind="late_start",
        hosts=case.hosts_of(ranks),
        ranks=ranks,
        at=None if scene.opened is None else scene.opened + case.connect_s,
        certainty=Certainty.LIKELY,
        lines=(*_why_late(case, ranks), scene.told[0].line),
        codes=("EI0015",),
        fields={"late": f"{delay:.0f}", "limit": f"{case.connect_s:.0f}"},
        witnesses=len(scene.told),
    )


def _unreached(case: Case, scene: Scene) -> Blame | None:
    """In time, and on the right card: something between them and the root."""
    hosts = case.hosts_of(scene.missing)
    root = next((e.host for e in case.of("root_entry", "root_timeout")), "")
    if not root and case.dark():
        return Blame(
            kind="host_silent",
            hosts=case.dark(),
            at=scene.opened,
            certainty=Certainty.MAYBE,
            lines=tuple(e.line for e in scene.told),
            place_known=len(case.dark()) == 1,
        )
    return Blame(
        kind="network_cut",
        hosts=tuple(h for h in case.roster.names if h in {*hosts, root}),
        at=scene.opened,
        certainty=Certainty.LIKELY,
        lines=tuple(e.line for e in scene.told),
        codes=("EI0015",),
        fields={"sides": f"{', '.join(hosts)} | {root or '?'}"},
        place_known=False,
        witnesses=len(scene.told),
    )


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(
        int(p)
        for p in text.replace("[", " ").replace("]", " ").replace(",", " ").replace(";", " ").split()
        if p.isdecimal()
    )
