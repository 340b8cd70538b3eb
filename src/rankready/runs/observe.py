"""Learn what checks and plans need: one script per server, read into facts and gaps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankready import catalog
from rankready.kind.product import Product
from rankready.kind.question import Question, Scope
from rankready.model.finding import Evidence
from rankready.model.snapshot import Gap, Snapshot
from rankready.runs.script import ask
from rankready.runs.site import now_utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankready.kind.transport import Session
    from rankready.model.cluster import Cluster, Server
    from rankready.model.command import Command, Reply
    from rankready.model.place import Place
    from rankready.runs.site import Site

Asked = tuple[Question[object], "Place", "Command"]
EXCERPT = 400


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


async def observe(site: Site, wanted: Sequence[Question[object]], servers: Sequence[Server] | None = None) -> Snapshot:
    """Ask every question of every server (or of ``servers``) and return what was learned, gaps included."""
    chosen = tuple(site.cluster.servers if servers is None else servers)
    rings = product(site.cluster).rings

    async def one(server: Server, session: Session) -> tuple[tuple[Asked, Reply], ...]:
        asked = _asked(server, wanted, rings)
        replies = await ask(session, [command for _, _, command in asked], lanes=max(2, len(rings)))
        return tuple(zip(asked, replies, strict=True))

    answers = await site.fleet.each(one, chosen)
    at = now_utc()
    facts: dict[tuple[Place, type], object] = {}
    evidence: dict[tuple[Place, type], Evidence] = {}
    for server in chosen:
        answer = answers[server.name]
        if isinstance(answer, Gap):
            facts.update({(p, q.fact): answer for q, p, _ in _asked(server, wanted, rings)})
            continue
        for (question, place, command), reply in answer:
            facts[place, question.fact] = _read(question, reply, place)
            evidence[place, question.fact] = _evidence(command, reply, at)
    return Snapshot(facts=facts, evidence=evidence, at=at)


def _asked(server: Server, wanted: Sequence[Question[object]], rings: tuple[tuple[int, ...], ...]) -> list[Asked]:
    asked: list[Asked] = []
    for question in wanted:
        places = server.device_places() if question.scope is Scope.DEVICE else (server.place,)
        asked.extend((question, place, _in_lane(question.ask(server, place), place, rings)) for place in places)
    return asked


def _in_lane(command: Command, place: Place, rings: tuple[tuple[int, ...], ...]) -> Command:
    """Devices that share a device OS share a lane: the tool may answer *busy* per group (facts/hccn 2.2)."""
    for number, ring in enumerate(rings):
        if place.device in ring:
            return replace(command, lane=f"ring{number}")
    return replace(command, lane=command.lane or "host")


def _read(question: Question[object], reply: Reply, place: Place) -> object:
    if reply.exit is None and not reply.both.strip():
        return Gap(f"{reply.command}: no answer within {reply.command.timeout_s:g} s")
    return question.read(reply, place)


def _evidence(command: Command, reply: Reply, at: str) -> Evidence:
    words = reply.both.strip() or f"(no output, exit {reply.exit})"
    return Evidence(command=str(command), excerpt=words[:EXCERPT], at=at)
