"""Counters are read twice, in a second script for those alone who told them; only what grew in between is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farm_fleet import farm, right

from rankready.model.errors import Unreachable
from rankready.model.finding import Outcome
from rankready.model.observed.device import Counters, CountersAgain, Link
from rankready.model.place import device_place
from rankready.model.snapshot import Gap
from rankready.runs.check import check
from rankready.runs.twice import observe_twice

if TYPE_CHECKING:
    from pathlib import Path

    from farm_fleet import FarmFleet, Frames

CODE = "NET020"
RESENT = b"roce_new_pkt_rty_num:0\n"


def looks(fleet: FarmFleet, server: str) -> int:
    """How often a server's devices were asked for their counters; it has two."""
    return sum(name == server and call.argv[3:] == ("-stat", "-g") for name, call in fleet.calls)


def growing(name: str, nonce: str, frames: Frames) -> bytes:
    """server2's second look finds one more packet sent again; the first one is told by being alone in its script."""
    said = right(name, nonce, frames)
    alone = all("-stat" in call.argv for call, _ in frames)
    return said.replace(RESENT, RESENT.replace(b"0", b"7")) if alone and name == "server2" else said


async def test_growth_between_two_looks_is_found_and_only_there(tmp_path: Path) -> None:
    fleet = farm()
    fleet.wrong = growing
    record = await check(fleet.site(tmp_path)[0], only=[CODE, "NET001"])
    assert {(str(v.place), v.outcome) for v in record.verdicts if v.outcome is not Outcome.PASS} == {
        ("server2/0", Outcome.WARN),
        ("server2/1", Outcome.WARN),
    }
    (found, _) = [f for v in record.verdicts for f in v.findings]
    assert "roce_new_pkt_rty_num +7" in found.message.en
    assert record.exit == 0
    assert looks(fleet, "server1") == 4


async def test_a_steady_count_passes_however_high(tmp_path: Path) -> None:
    fleet = farm()
    fleet.wrong = lambda name, nonce, frames: right(name, nonce, frames).replace(RESENT, RESENT.replace(b"0", b"9"))
    record = await check(fleet.site(tmp_path)[0], only=[CODE])
    assert {v.outcome for v in record.verdicts} == {Outcome.PASS}


async def test_who_does_not_tell_counters_is_not_asked_again(tmp_path: Path) -> None:
    fleet = farm()

    def old(name: str, nonce: str, frames: Frames) -> bytes:
        return right(name, nonce, [(c, f) for c, f in frames if name != "server1" or "-stat" not in c.argv])

    fleet.wrong = old
    snapshot = await observe_twice(fleet.site(tmp_path)[0], {Counters, CountersAgain, Link})
    assert looks(fleet, "server1") == 2
    assert looks(fleet, "server2") == 4
    for device in (0, 1):
        place = device_place("server1", device)
        assert snapshot.facts[place, CountersAgain] == snapshot.facts[place, Counters]
        assert isinstance(snapshot.facts[place, CountersAgain], Gap)


async def test_a_tool_that_knows_no_counters_makes_one_look_and_no_line(tmp_path: Path) -> None:
    fleet = farm()
    new = ("-stat", "-speed", "-fec", "-pfc", "-dscp_to_tc", "-optical", "-version")
    answer = fleet.words.answer

    def old(server: str, argv: tuple[str, ...]) -> tuple[str, str, int]:
        if set(new) & set(argv):
            return "", "Get invalid major cmd.\nEnter [ hccn_tool -h ] for more details.\n", 3
        return answer(server, argv)

    fleet.words.answer = old  # type: ignore[method-assign,assignment]
    record = await check(fleet.site(tmp_path)[0], only=["NET", "OPT", "VER003"])
    assert looks(fleet, "server1") == 2
    assert record.exit == 0
    skipped = {v.code for v in record.verdicts if v.outcome is Outcome.SKIP}
    assert skipped == {
        *(f"NET0{n}" for n in range(14, 22)), *(f"OPT00{n}" for n in range(1, 7)), "VER003",
    }  # fmt: skip
    assert not [v for v in record.verdicts if v.outcome in (Outcome.UNKNOWN, Outcome.FAIL, Outcome.WARN)]


async def test_a_server_that_is_lost_between_the_looks_is_unknown(tmp_path: Path) -> None:
    fleet = farm()

    def dies(name: str, nonce: str, frames: Frames) -> bytes | Exception:
        alone = all("-stat" in call.argv for call, _ in frames)
        return Unreachable("server2: connection lost") if alone and name == "server2" else right(name, nonce, frames)

    fleet.wrong = dies
    record = await check(fleet.site(tmp_path)[0], only=[CODE, "NET001"])
    told = {(v.code, str(v.place)): v for v in record.verdicts if v.outcome is not Outcome.PASS}
    assert set(told) == {(CODE, "server2/0"), (CODE, "server2/1")}
    assert {v.outcome for v in told.values()} == {Outcome.UNKNOWN}
    assert record.exit == 3


async def test_without_the_rule_one_look_is_enough(tmp_path: Path) -> None:
    fleet = farm()
    await check(fleet.site(tmp_path)[0], only=["NET001"])
    assert looks(fleet, "server1") == 0
