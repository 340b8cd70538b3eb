"""Learn what checks and plans need: one script per server, read into facts and gaps."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.product import Product
from rankready.kind.question import Question, Scope
from rankready.model.finding import Evidence
from rankready.model.observed.host import Reached
from rankready.model.place import PlaceKind
from rankready.model.snapshot import Gap, Snapshot
from rankready.model.text import Text
from rankready.runs.script import ask
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from rankready.kind.transport import Session
    from rankready.model.cluster import Cluster, Server
    from rankready.model.command import Command, Reply
    from rankready.model.place import Place
    from rankready.runs.site import Site

Asked = tuple[Question[object], "Place", "Command"]
Key = tuple["Place", type]
Item = tuple[Key, object, Evidence]
Learned = list[Item]
EXCERPT = 400
MOST_KNOWN, LONGEST_KNOWN = 1 << 14, 8 << 10  # answers kept to recognise the same words again, characters of one
EACH_S = 1.5  # what one call of a lane may take on the average before the rest of a script is given up
LEAST_S = 60.0
PATIENCE_S = 10.0  # then it is told whom we wait for
_FEW = 4


def questions(facts: Iterable[type] | None = None) -> tuple[Question[object], ...]:
    """Return the questions for these kinds of facts (all, when None), in catalogue order."""
    wanted = None if facts is None else set(facts)
    found = tuple(q for q in catalog.offered("tools", "QUESTIONS", Question) if wanted is None or q.fact in wanted)
    missing = set() if wanted is None else wanted - {q.fact for q in found}
    if missing:
        message = f"no tool asks for {', '.join(sorted(m.__name__ for m in missing))}"
        raise LookupError(message)
    return found


def product(cluster: Cluster) -> Product:
    """Return the rules of the cluster's generation."""
    for item in catalog.offered("products", "PRODUCT", Product):
        if item.generation is cluster.generation:
            return item
    message = f"no product file for generation {cluster.generation}"
    raise LookupError(message)


async def observe(
    site: Site,
    wanted: Sequence[Question[object]],
    servers: Sequence[Server] | None = None,
    *,
    within_s: float | None = None,
) -> Snapshot:
    """Ask every question of every server (or of ``servers``) and return what was learned, gaps included.

    Answers are read as each server's come in: what is kept of a thousand servers is facts, not their words.
    ``within_s``: after this time a server is asked no more; None: as its calls need.
    """
    chosen = tuple(site.cluster.servers if servers is None else servers)
    rings = product(site.cluster).rings
    look = _Look()
    waiting = dict.fromkeys(s.name for s in chosen)

    async def one(server: Server, session: Session) -> Learned:
        asked = _asked(server, wanted, rings)
        commands = [command for _, _, command in asked]
        sent = look.age()
        replies = await ask(session, commands, lanes=max(2, len(rings)), within_s=within_s or _within(commands))
        window = _Window(sent, look.age(), replies)
        waiting.pop(server.name)
        return [look.read(item, reply, window) for item, reply in zip(asked, replies, strict=True)]

    telling = asyncio.create_task(_tell(site, waiting))
    try:
        answers = await site.fleet.each(one, chosen)
    finally:
        telling.cancel()
    facts: dict[Key, object] = {}
    evidence: dict[Key, Evidence] = {}
    for server in chosen:
        answer = answers[server.name]
        if isinstance(answer, Gap):
            facts.update({(p, q.fact): answer for q, p, _ in _asked(server, wanted, rings)})
            continue
        for key, fact, words in answer:
            facts[key] = fact
            evidence[key] = words
    return Snapshot(facts=facts, evidence=evidence, at=look.at)


async def _tell(site: Site, waiting: Mapping[str, None]) -> None:
    """Name those that we still wait for, now and then."""
    while True:
        await asyncio.sleep(PATIENCE_S)
        open_ = [name for name in waiting if name not in site.fleet.lost]
        few = ", ".join(open_[:_FEW]) + (" …" if len(open_) > _FEW else "")
        if open_:
            site.say(Text(en=f"waiting for {len(open_)} servers: {few}", zh=f"正在等待 {len(open_)} 台服务器：{few}"))


def _asked(server: Server, wanted: Sequence[Question[object]], rings: tuple[tuple[int, ...], ...]) -> list[Asked]:
    asked: list[Asked] = []
    devices, own = server.device_places(), (server.place,)
    for question in wanted:
        places = devices if question.scope is Scope.DEVICE else own
        asked.extend((question, place, _in_lane(question.ask(server, place), place, rings)) for place in places)
    return asked


def _in_lane(command: Command, place: Place, rings: tuple[tuple[int, ...], ...]) -> Command:
    """Devices that share a device OS share a lane: the tool may answer *busy* per group (facts/hccn 2.2)."""
    lane = next((f"ring{n}" for n, ring in enumerate(rings) if place.device in ring), command.lane or "host")
    owner = f"device{place.device}" if place.kind is PlaceKind.DEVICE else command.argv[0] if command.argv else ""
    return replace(command, lane=lane, owner=owner)


def _within(commands: Sequence[Command]) -> float:
    """Return the seconds after which a server is asked no more: enough for a slow one, not for one that hangs."""
    longest = max(Counter(c.lane for c in commands).values(), default=0)
    return max(LEAST_S, EACH_S * longest)


class _Window:
    """When a server can have made a reply: after the script was sent and before its answers were here."""

    def __init__(self, sent: float, came: float, replies: Sequence[Reply]) -> None:
        timed = [r for r in replies if r.ended_s]
        self._sent, self._came = sent, came
        self._first = min((r.ended_s - r.duration_s for r in timed), default=0.0)
        self._last = max((r.ended_s for r in timed), default=0.0)

    def shifted(self, fact: Reached, clock: float, reply: Reply) -> Reached:
        """Return the fact as if its clock had been read when the look began: servers answer at different times."""
        at = reply.ended_s or self._first
        earliest, latest = self._sent + at - self._first, self._came - (self._last - at)
        return replace(fact, clock=clock - (earliest + latest) / 2, slack_s=abs(latest - earliest) / 2)


class _Look:
    """Reads replies; equal words are read and kept once, however many servers said them."""

    def __init__(self) -> None:
        self.at = now_utc()
        self._began = time.monotonic()
        self._words: dict[tuple[str, str], Evidence] = {}
        self._known: dict[Hashable, tuple[object, Evidence]] = {}

    def age(self) -> float:
        return time.monotonic() - self._began

    def read(self, asked: Asked, reply: Reply, when: _Window) -> Item:
        question, place, command = asked
        said = (id(question), command.argv, reply.stdout, reply.stderr, reply.exit)
        known = self._known.get(said) if reply.tries else None
        if known is None:
            known = _read(question, reply, place), self._evidence(command, reply)
            short = len(reply.stdout) + len(reply.stderr) <= LONGEST_KNOWN
            if (
                reply.tries and short and len(self._known) < MOST_KNOWN
            ):  # a fact comes of the words alone, whoever said them
                self._known[said] = known
        fact, words = known
        if isinstance(fact, Reached) and fact.clock is not None:
            fact = when.shifted(fact, fact.clock, reply)
        return (place, question.fact), fact, words

    def _evidence(self, command: Command, reply: Reply) -> Evidence:
        said = reply.both.strip()[:EXCERPT] or f"(no output, exit {reply.exit})"
        key = (str(command), said)
        if key not in self._words:
            self._words[key] = Evidence(command=key[0], excerpt=said, at=self.at)
        return self._words[key]


def _read(question: Question[object], reply: Reply, place: Place) -> object:
    if reply.tries == 0:
        return Gap(
            f"{reply.command}: not asked: {place} had ceased to answer, or the server's time was up",
            zh=f"{reply.command}：未询问：{place} 已不再应答，或该服务器的时间已用完",
        )
    if reply.exit is None and not reply.both.strip():
        limit = reply.command.timeout_s
        return Gap(f"{reply.command}: no answer within {limit:g} s", zh=f"{reply.command}：{limit:g} 秒内无应答")
    return question.read(reply, place)
