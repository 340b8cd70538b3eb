"""No device is given an address that another still carries; what was to be set is set, whatever the order."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface, ip_network

from hypothesis import given
from hypothesis import strategies as st

from rankready.model.change import Change, What
from rankready.model.place import device_place
from rankready.plan.order import DETOUR, ordered

NET = "10.0.0.{}/24"


def move(device: int, before: int | None, after: int) -> Change:
    old = "" if before is None else NET.format(before)
    return Change(place=device_place("s", device), what=What.ADDRESS, before=old, after=NET.format(after))


def play(changes: tuple[Change, ...], carried: dict[int, int]) -> dict[int, int]:
    """Set one after another, as the tool does: it refuses what another device carries."""
    now = dict(carried)
    for change in changes:
        if change.what is What.ADDRESS:
            number = int(ip_interface(change.after).ip) & 0xFF
            assert number not in {n for d, n in now.items() if d != change.place.device}, "refused: conflicted"
            now[change.place.device] = number
    return now


def order(moves: list[Change], carried: dict[int, int], **taken: object) -> tuple[Change, ...]:
    holds = {device_place("s", d): ip_address(f"10.0.0.{n}") for d, n in carried.items()}
    used = {ip_interface(c.after).ip for c in moves} | set(holds.values())
    return ordered(moves, holds, used, **taken)  # type: ignore[arg-type]


def test_devices_that_do_not_meet_keep_their_order() -> None:
    moves = [move(0, None, 1), move(1, None, 2)]
    assert order(moves, {}) == tuple(moves)


def test_a_device_waits_until_the_address_is_free() -> None:
    moves = [move(0, 1, 2), move(1, 2, 3)]
    assert [c.place.device for c in order(moves, {0: 1, 1: 2})] == [1, 0]


def test_an_exchange_goes_through_a_free_address_from_the_end_and_keeps_what_belongs_to_a_device_together() -> None:
    gateway = Change(place=device_place("s", 0), what=What.GATEWAY, before="", after="10.0.0.254")
    moves = [move(0, 1, 2), gateway, move(1, 2, 1)]
    found = order(moves, {0: 1, 1: 2}, closed=(ip_network("10.0.0.252/30"),))
    assert [(c.place.device, c.after, c.reason == DETOUR) for c in found] == [
        (0, "10.0.0.251/24", True),
        (1, "10.0.0.1/24", False),
        (0, "10.0.0.2/24", False),
        (0, "10.0.0.254", False),
    ]
    assert found[2].before == "10.0.0.251/24"


def test_a_circle_behind_a_queue_is_opened_too() -> None:
    carried = {0: 9, 1: 1, 2: 2}
    moves = [move(0, 9, 1), move(1, 1, 2), move(2, 2, 3)]
    assert play(order(moves, carried), carried) == {0: 1, 1: 2, 2: 3}
    ring = [move(0, 9, 8), move(1, 1, 2), move(2, 2, 1)]
    assert play(order(ring, carried), carried) == {0: 8, 1: 2, 2: 1}


def test_where_no_address_is_free_the_tool_is_left_to_refuse() -> None:
    small = "10.0.0.{}/30"
    moves = [
        Change(place=device_place("s", d), what=What.ADDRESS, before=small.format(d + 1), after=small.format(2 - d))
        for d in (0, 1)
    ]
    holds = {device_place("s", d): ip_address(f"10.0.0.{d + 1}") for d in (0, 1)}
    assert ordered(moves, holds, set(holds.values())) == tuple(moves)


def test_an_address_of_a_device_that_stays_is_left_to_the_tool_to_refuse() -> None:
    moves = [move(0, 1, 5), move(1, 2, 3)]
    assert {c.place.device for c in order(moves, {0: 1, 1: 2, 4: 5})} == {0, 1}


@given(st.permutations(range(8)), st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_any_renumbering_of_a_server_arrives(old: list[int], new: list[int], blank: set[int]) -> None:
    carried = {d: n for d, n in enumerate(old) if d not in blank}
    moves = [move(d, carried.get(d), n) for d, n in enumerate(new) if carried.get(d) != n]
    shifted = {d: n + 1 for d, n in carried.items()}
    raised = [
        move(c.place.device, shifted.get(d), (int(ip_interface(c.after).ip) & 0xFF) + 1)
        for c in moves
        for d in (c.place.device,)
    ]
    assert play(order(raised, shifted), shifted) == {d: n + 1 for d, n in enumerate(new)}
