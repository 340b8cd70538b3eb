"""Every question, its answer damaged in every way that a way can damage it: no rule passes on what it did not read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from farm_fleet import farm
from word_mutations import damaged

from rankready.checks.counters_grow import PATH, WIRE
from rankready.kind.check import verdicts
from rankready.model.command import Reply
from rankready.model.finding import Outcome
from rankready.model.observed.device import Counters, CountersAgain, Neighbour
from rankready.model.observed.host import HccnConf, HostAddress, Reached
from rankready.model.place import device_place, server_place
from rankready.model.snapshot import Seen
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended
from rankready.runs.observe import questions

if TYPE_CHECKING:
    from farm_fleet import FarmFleet

    from rankready.kind.check import Check
    from rankready.kind.question import Question
    from rankready.model.finding import Verdict
    from rankready.model.place import Place
    from rankready.model.snapshot import Snapshot
    from rankready.runs.site import Site

CHECKS = checks()
NEEDED = {need for c in CHECKS for need in c.needs}
WATCHED = {*WIRE, *PATH}
SHOWN = (Outcome.FAIL, Outcome.UNKNOWN, Outcome.WARN)

HARMLESS = {
    ("Listening", "without line 0"): "a listener less: no list tells what should be on it",
    ("LinkHistory", "without line 2"): "the words of a driver that counts ups alone: judged by these",
    ("Mac", "of another"): "behind a switch no cable is judged by a device's own MAC",
}
"""What a rule may pass on although it was damaged, and why."""


@dataclass(frozen=True)
class Look:
    """What a healthy farm shows."""

    fleet: FarmFleet
    site: Site
    snapshot: Snapshot
    verdicts: tuple[Verdict, ...]

    def reply(self, question: Question[object], place: Place) -> Reply:
        """What a place of the farm says to a question."""
        command = question.ask(self.site.cluster.server(place.name), place)
        argv = ("sh", "-c", command.shell, "sh", *command.argv) if command.shell else command.argv
        out, err, code = self.fleet.words.answer(place.name, argv)
        return Reply(command=command, stdout=out, stderr=err, exit=code)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Look:
    fleet = farm()
    site, _ = fleet.site(tmp_path_factory.mktemp("sound"))
    snapshot = asyncio.run(observe_planned(site, {q.fact for q in questions()}))
    return Look(fleet, site, snapshot, verdicts(CHECKS, intended(site, snapshot), Seen(snapshot)))


def gist(fact: object) -> object:
    """What rules read of a fact: no free text, no line numbers, no moment, no order of a set."""
    match fact:
        case Neighbour():
            return replace(fact, description="", management="", frame_size=None)  # no cabling rule reads them
        case HccnConf():
            return frozenset(replace(line, line=0) for line in fact.lines), fact.problems
        case HostAddress():
            return frozenset(fact.addresses)
        case Counters() | CountersAgain():
            return {name: value for name, value in fact.values if name in WATCHED}
        case Reached():
            return fact.clock is None
    return fact


def unearned(sound: Look, question: Question[object], place: Place, fact: object) -> list[Verdict]:
    """Rules that pass at a place whose fact is not what it was, while none that needs it shows that."""
    snapshot = replace(sound.snapshot, facts={**sound.snapshot.facts, (place, question.fact): fact})
    needing: dict[str, Check] = {c.code: c for c in CHECKS if question.fact in c.needs}
    judged = verdicts(CHECKS, intended(sound.site, snapshot), Seen(snapshot))
    mine = [v for v in judged if v.code in needing]
    before = {(v.code, v.place): v.outcome for v in sound.verdicts}
    for verdict in mine:
        skipped = verdict.outcome is Outcome.SKIP and before.get((verdict.code, verdict.place)) is Outcome.PASS
        if place in (verdict.place, verdict.place.owner) and (verdict.outcome in SHOWN or skipped):
            return []
    return [v for v in mine if v.outcome is Outcome.PASS and (v.place == place or v.place.kind == "cluster")]


@pytest.mark.parametrize("question", [q for q in questions() if q.fact in NEEDED], ids=lambda q: q.fact.__name__)
def test_no_rule_passes_on_a_damaged_answer(sound: Look, question: Question[object]) -> None:
    device = question.scope == "device"
    place, other = (
        (device_place("server1", 0), device_place("server1", 1))
        if device
        else (server_place("server1"), server_place("server2"))
    )
    was, told = sound.snapshot.facts[place, question.fact], sound.reply(question, place)
    wrong = []
    for how, reply in damaged(told, sound.reply(question, other)):
        fact = question.read(reply, place)
        if gist(fact) == gist(was) or (question.fact.__name__, how) in HARMLESS:
            continue
        wrong += [(how, v.code, fact) for v in unearned(sound, question, place, fact)]
    assert wrong == []
