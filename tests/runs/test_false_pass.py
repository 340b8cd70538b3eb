"""No damage on the way makes a pass that nobody earned: every question, and every way of losing its answer."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest
from farm_fleet import farm, right

from rankready.kind.check import verdicts
from rankready.model.errors import Unreachable
from rankready.model.finding import Outcome
from rankready.model.observed.host import Reached
from rankready.model.snapshot import Seen
from rankready.runs.check import checks
from rankready.runs.family import observe_planned
from rankready.runs.intent import intended
from rankready.runs.mesh import Limits, mesh
from rankready.runs.observe import questions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from farm_fleet import FarmFleet, Frames

    from rankready.kind.question import Question
    from rankready.model.finding import Verdict
    from rankready.model.snapshot import Snapshot

SICK = "server1"
HEAD = re.compile(rb"\n(rr\w+) (\d+) (\d+) (\d+) (\d+) (\d+) (\S+) (\S+)\n")
Frame = bytes


def rewritten(frame: bytes, out: bytes, err: bytes, status: bytes | None = None) -> bytes:
    """The same frame about other words."""
    found = HEAD.match(frame)
    assert found
    nonce, index, was, tries, _, _, began, ended = found.groups()
    sizes = f"{len(out)} {len(err)}".encode()
    return b"\n" + b" ".join((nonce, index, status or was, tries, sizes, began, ended)) + b"\n" + out + err


def words_of(frame: bytes) -> tuple[bytes, bytes]:
    found = HEAD.match(frame)
    assert found
    cut = found.end() + int(found[5])
    return frame[found.end() : cut], frame[cut:]


def first_half(out: bytes) -> bytes:
    """The first half of the lines, whole."""
    lines = out.splitlines(keepends=True)
    return b"".join(lines[: len(lines) // 2])


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "says nothing": lambda f: rewritten(f, b"", b"", b"000"),
    "is cut": lambda f: rewritten(f, words_of(f)[0][: len(words_of(f)[0]) // 2], words_of(f)[1]),
    "is cut at a line": lambda f: rewritten(
        f, b"".join(words_of(f)[0].splitlines(keepends=True)[:1][:-1]), words_of(f)[1]
    ),
    "hangs": lambda f: rewritten(f, b"", b"", b"124"),
    "hangs after words": lambda f: rewritten(f, *words_of(f), status=b"137"),
    "is lost": lambda _: b"",
    "is garbage": lambda f: rewritten(f, b"\x00\x1b[31m\xff" * 20, b"\xfe", b"000"),
    "fails": lambda f: rewritten(f, b"", b"Segmentation fault\n", b"139"),
    "is another's": lambda f: rewritten(f, b"OK\nready\nno error\n", b"", b"000"),
}


def stale(nonce: str, said: bytes) -> bytes:
    """The same answer under another script's word."""
    return said.replace(nonce.encode(), b"rr0")


KILLED: dict[str, Callable[[str, str, Frames], bytes | Exception]] = {
    "nothing comes": lambda s, n, f: b"" if s == SICK else right(s, n, f),
    "half of it comes": lambda s, n, f: right(s, n, f)[: len(right(s, n, f)) // 2] if s == SICK else right(s, n, f),
    "the host dies": lambda s, n, f: Unreachable(f"{s}: connection lost") if s == SICK else right(s, n, f),
    "garbage comes": lambda s, n, f: b"\x1b[2J\x00\xff" * 999 if s == SICK else right(s, n, f),
    "an old script's answer comes": lambda s, n, f: stale(n, right(s, n, f)) if s == SICK else right(s, n, f),
}  # fmt: skip


def damaged(question: Question[object], how: Callable[[bytes], bytes], fleet: FarmFleet) -> None:
    """Damage the answers to one question on one server."""
    cluster = fleet.words.cluster
    server = cluster.server(SICK)
    places = server.device_places() if question.scope == "device" else (server.place,)
    asked = [question.ask(server, p) for p in places]
    words = {("sh", "-c", c.shell, "sh", *c.argv) if c.shell else c.argv for c in asked}

    def wrong(name: str, nonce: str, frames: Frames) -> bytes:
        return right(name, nonce, [(c, how(f) if name == SICK and c.argv in words else f) for c, f in frames])

    fleet.wrong = wrong


async def looked(fleet: FarmFleet, home: Path) -> tuple[Snapshot, tuple[Verdict, ...]]:
    site, _ = fleet.site(home)
    snapshot = await observe_planned(site, {q.fact for q in questions()})
    return snapshot, verdicts(checks(), intended(site, snapshot), Seen(snapshot))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Snapshot, tuple[Verdict, ...]]:
    return asyncio.run(looked(farm(), tmp_path_factory.mktemp("sound")))


def same(a: object, b: object) -> bool:
    """A clock goes on; all else must be the same."""
    return a == b or (isinstance(a, Reached) and isinstance(b, Reached) and a.hostname == b.hostname)


def test_the_sound_farm_passes(sound: tuple[Snapshot, tuple[Verdict, ...]]) -> None:
    outcomes = {v.outcome for v in sound[1]}
    assert Outcome.PASS in outcomes
    assert not outcomes & {Outcome.FAIL, Outcome.UNKNOWN}, [v for v in sound[1] if v.outcome in ("fail", "unknown")]


def cases() -> list[Any]:
    return [
        pytest.param(question, how, id=f"{question.fact.__name__} {how}") for question in questions() for how in DAMAGE
    ]


@pytest.mark.parametrize(("question", "how"), cases())
async def test_a_damaged_answer_earns_no_pass(
    question: Question[object], how: str, sound: tuple[Snapshot, tuple[Verdict, ...]], tmp_path: Path
) -> None:
    """A rule may pass on a changed fact only where another rule shows the damage at the very place."""
    fleet = farm()
    damaged(question, DAMAGE[how], fleet)
    snapshot, judged = await looked(fleet, tmp_path)
    before = sound[0].facts
    changed = {
        place
        for (place, kind), fact in snapshot.facts.items()
        if kind is question.fact and not same(fact, before[place, kind])
    }
    assert {place.name for place in changed} <= {SICK}
    needing = {c.code for c in checks() if question.fact in c.needs}
    mine = [v for v in judged if v.code in needing]
    shown = {p for v in mine if v.outcome in (Outcome.FAIL, Outcome.UNKNOWN) for p in (v.place, v.place.owner)}
    for verdict in mine:
        if verdict.outcome is Outcome.PASS:
            rests_on = changed if verdict.place.kind == "cluster" else changed & {verdict.place}
            assert rests_on <= shown, (verdict, [snapshot.facts[p, question.fact] for p in rests_on])


@pytest.mark.parametrize("how", KILLED)
async def test_a_server_that_is_lost_in_a_look_is_unknown_and_nobody_else(how: str, tmp_path: Path) -> None:
    fleet = farm()
    fleet.wrong = KILLED[how]
    _, judged = await looked(fleet, tmp_path)
    mine = [v for v in judged if v.place.name == SICK]
    if how != "half of it comes":
        assert not [v for v in mine if v.outcome is Outcome.PASS]
    assert [v for v in mine if v.outcome is Outcome.UNKNOWN]
    others = [v for v in judged if v.place.name in ("server2", "server3")]
    assert {v.outcome for v in others} <= {Outcome.PASS, Outcome.SKIP, Outcome.WARN}


def only_probes(wrong: Callable[[str, str, Frames], Any]) -> Callable[[str, str, Frames], Any]:
    """Do it while probing alone: the audit goes well."""

    def chosen(name: str, nonce: str, frames: Frames) -> Any:  # noqa: ANN401  (bytes, or the error)
        probing = any("-ping" in c.argv for c, _ in frames)
        return wrong(name, nonce, frames) if probing else right(name, nonce, frames)

    return chosen


@pytest.mark.parametrize("how", KILLED)
async def test_a_server_that_is_lost_while_probing_leaves_gaps_and_no_proof(how: str, tmp_path: Path) -> None:
    fleet = farm()
    fleet.wrong = only_probes(KILLED[how])
    record = await mesh(fleet.site(tmp_path)[0])
    covered = record.extra["coverage"]
    assert covered["proven"] + covered["unmeasured"] == covered["planned"]
    assert covered["unmeasured"] > 0
    assert record.exit == 3
    assert not [v for v in record.verdicts if v.outcome is Outcome.FAIL], "a lost caller is no fault of the network"
    if how == "the host dies":
        assert [
            (v.outcome, "lost while" in v.reason) for v in record.verdicts if (v.code, v.place.name) == ("HST001", SICK)
        ] == [(Outcome.UNKNOWN, True)]


@pytest.mark.parametrize("how", DAMAGE)
async def test_damaged_probes_prove_nothing(how: str, tmp_path: Path) -> None:
    fleet = farm()

    def wrong(name: str, nonce: str, frames: Frames) -> bytes:
        return right(name, nonce, [(c, DAMAGE[how](f) if "-ping" in c.argv else f) for c, f in frames])

    fleet.wrong = wrong
    record = await mesh(fleet.site(tmp_path)[0])
    assert record.extra["coverage"]["proven"] == 0
    assert not [v for v in record.verdicts if v.code == "NET009" and v.outcome is Outcome.PASS]
    assert record.exit == 3


async def test_probes_of_a_sound_farm_prove_all(tmp_path: Path) -> None:
    record = await mesh(farm().site(tmp_path)[0], Limits())
    assert record.extra["coverage"]["proven"] == record.extra["coverage"]["planned"] > 0
    assert record.exit == 0
