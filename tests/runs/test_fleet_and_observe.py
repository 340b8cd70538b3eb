"""A dead server costs its own answers and nobody else's; every question ends as a fact or a gap."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from farm_fleet import farm
from small_cluster import CLUSTER

from rankready.kind.question import Question, Scope
from rankready.model.command import Command
from rankready.model.errors import Unanswered, Unreachable
from rankready.model.observed.device import Link, Mac, Mtu
from rankready.model.observed.host import Listening, Reached
from rankready.model.place import device_place, server_place
from rankready.model.snapshot import Gap, Seen
from rankready.runs.fleet import Fleet, Retry
from rankready.runs.observe import observe, questions
from rankready.runs.site import Site
from rankready.transports.local import LocalSession

if TYPE_CHECKING:
    from rankready.kind.transport import Session
    from rankready.model.cluster import Server
    from rankready.model.command import Reply
    from rankready.model.place import Place


class Partly:
    """server2 refuses; the others are this machine."""

    name = "partly"
    tried = 0

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> LocalSession:
        if server.name == "server2":
            self.tried += 1
            raise Unreachable("server2: connection refused")
        return LocalSession({"PATH": "/usr/bin:/bin"})

    async def close(self) -> None:
        """Nothing is shared."""


def site(transport: Partly) -> Site:
    return Site(cluster=CLUSTER, fleet=Fleet(CLUSTER, transport), home=Path("/nowhere"), say=lambda _: None)


def mtu(reply: Reply, place: Place) -> Mtu | Gap:
    return Mtu(size=int(reply.stdout)) if reply.exit == 0 else Gap(reply.first_line)


DEVICE = Question(
    fact=Mtu, scope=Scope.DEVICE, ask=lambda _, p: Command(argv=(str(p.device),), shell='echo "150$1"'), read=mtu
)
HANGS = Question(
    fact=Listening,
    scope=Scope.SERVER,
    ask=lambda _s, _p: Command(argv=(), shell="sleep 9", timeout_s=1),
    read=lambda _r, _p: Listening(ports=()),
)


async def test_each_does_the_work_everywhere_it_can_in_cluster_order() -> None:
    fleet = Fleet(CLUSTER, Partly())

    async def hello(server: Server, session: Session) -> str:
        return (await session.run(f"echo {server.name}\n".encode(), timeout_s=10)).stdout.decode().strip()

    found = await fleet.each(hello)
    assert list(found) == ["server1", "server2", "server3"]
    assert found["server1"] == "server1"
    assert found["server2"] == Gap("server2: connection refused")


async def test_a_dead_server_is_tried_once_a_run() -> None:
    transport = Partly()
    fleet = Fleet(CLUSTER, transport)

    async def nothing(server: Server, session: Session) -> None:
        """Do nothing."""

    await fleet.each(nothing)
    await fleet.each(nothing)
    assert transport.tried == 1


async def test_observe_gives_a_fact_or_a_gap_for_every_question_and_place() -> None:
    snapshot = await observe(site(Partly()), [DEVICE, HANGS])
    seen = Seen(snapshot)
    assert seen.at(device_place("server3", 1), Mtu) == Mtu(size=1501)
    assert seen.gap(device_place("server2", 0), Mtu) == Gap("server2: connection refused")
    hung = seen.gap(server_place("server1"), Listening)
    assert hung is not None
    assert "no answer within 1 s" in hung.reason
    assert len(snapshot.facts) == 3 * 3


async def test_evidence_holds_the_command_and_its_words() -> None:
    seen = Seen(await observe(site(Partly()), [DEVICE]))
    (evidence,) = seen.evidence(device_place("server1", 0), Mtu)
    assert evidence.excerpt == "1500"
    assert evidence.at.endswith("+00:00")


class Shaky:
    """Raises what it is told, one error a try, then connects."""

    name = "shaky"

    def __init__(self, *errors: Unreachable) -> None:
        self.errors = list(errors)
        self.tried = 0

    async def connect(self, server: Server, *, timeout_s: float = 15.0) -> LocalSession:
        self.tried += 1
        if self.errors:
            raise self.errors.pop(0)
        return LocalSession({"PATH": "/usr/bin:/bin"})

    async def close(self) -> None:
        """Nothing is shared."""


async def nothing(server: Server, session: Session) -> None:
    """Do nothing."""


async def once(*errors: Unreachable, within_s: float = 8.0) -> tuple[int, Gap | None]:
    transport = Shaky(*errors)
    fleet = Fleet(CLUSTER, transport, retry=Retry(pauses_s=(0.0, 0.0), within_s=within_s))
    found = await fleet.each(nothing, CLUSTER.servers[:1])
    return transport.tried, found["server1"]


async def test_who_did_not_answer_is_tried_again_and_who_refused_is_not() -> None:
    silent = Unanswered("server1: no answer in time")
    assert await once(silent) == (2, None)
    assert await once(silent, silent) == (3, None)
    assert await once(silent, silent, silent) == (3, Gap("server1: no answer in time"))
    assert await once(Unreachable("server1: permission denied")) == (1, Gap("server1: permission denied"))


async def test_a_server_that_was_silent_for_long_is_not_tried_again() -> None:
    assert await once(Unanswered("server1: silent"), within_s=-1.0) == (1, Gap("server1: silent"))


async def test_who_was_lost_is_named_with_the_reason() -> None:
    fleet = Fleet(CLUSTER, Partly())
    await fleet.each(nothing)
    assert {name: str(why) for name, why in fleet.lost.items()} == {"server2": "server2: connection refused"}


async def test_a_device_that_hangs_is_asked_no_more_and_the_others_are() -> None:
    def ask(_: Server, place: Place) -> Command:
        shell = "sleep 9" if place.device == 0 else "echo 1500"
        return Command(argv=(str(place.device),), shell=shell, timeout_s=1)

    def read(reply: Reply, place: Place) -> Mtu | Gap:
        return mtu(reply, place)

    hangs = Question(fact=Mtu, scope=Scope.DEVICE, ask=ask, read=read)
    again = [Question(fact=fact, scope=Scope.DEVICE, ask=ask, read=read) for fact in (Mtu, Link, Mac)]
    seen = Seen(await observe(site(Partly()), [hangs, *again]))
    assert seen.at(device_place("server1", 1), Mtu) == Mtu(size=1500)
    gap = seen.gap(device_place("server1", 0), Mac)
    assert gap is not None
    assert "had ceased to answer" in gap.reason


async def test_clocks_are_compared_at_one_moment() -> None:
    def read(reply: Reply, _: Place) -> Reached:
        return Reached(hostname="h", user="u", os="o", clock=float(reply.stdout))

    slow = "[ $(($$ % 2)) = 0 ] && sleep 0.7; date +%s.%N"
    asks = Question(fact=Reached, scope=Scope.SERVER, ask=lambda _s, _p: Command(argv=(), shell=slow), read=read)
    seen = Seen(await observe(site(Partly()), [asks]))
    known = [fact for _, fact in seen.each(Reached)]
    clocks = [(fact.clock or 0.0, fact.slack_s) for fact in known]
    assert len(clocks) == 2
    (a, slack_a), (b, slack_b) = clocks
    assert abs(a - b) <= slack_a + slack_b + 0.05


@pytest.mark.parametrize(("fact", "read"), [(Mtu, 2), (Mac, 8)])
async def test_the_same_words_are_read_once_and_others_each(fact: type, read: int, tmp_path: Path) -> None:
    """Four servers of two devices: one device number's MTU sounds the same everywhere, no two MACs do."""
    site, _ = farm(4, (0, 1)).site(tmp_path)
    (question,) = questions({fact})
    reads: list[Place] = []

    def counted(reply: Reply, place: Place) -> object:
        reads.append(place)
        return question.read(reply, place)

    seen = Seen(await observe(site, [replace(question, read=counted)]))
    assert len(reads) == read
    assert [place for place, _ in seen.each(fact)] == list(site.cluster.devices())
    assert all(seen.evidence(place, fact) for place in site.cluster.devices())
