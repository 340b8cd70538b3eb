"""Doing the moves gives the plan, each into an empty port, and no fewer would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from rankready.model.place import Place, PlaceKind, device_place, port_place
from rankready.plan.cable_moves import cable_moves

if TYPE_CHECKING:
    from rankready.plan.cable_moves import Move

Ends = dict[Place, Place]


def device(number: int) -> Place:
    return device_place(f"server{number // 4 + 1}", number % 4)


def port(number: int) -> Place:
    return port_place(f"leaf{number // 8 + 1}", f"GE1/0/{number % 8}")


def done(found: Ends, moves: tuple[Move, ...]) -> Ends:
    """Move plugs by hand: a port takes one, and of a ring the last move's plug is pulled out first."""
    plug = dict(found)
    first_out = {m.ring: m.device for m in moves if m.ring}
    for move in moves:
        if move.ring and plug.get(first_out[move.ring]) == found[first_out[move.ring]]:
            del plug[first_out[move.ring]]
        assert move.origin == found[move.device]
        plug.pop(move.device, None)
        assert move.target not in plug.values(), f"{move.target} is taken"
        plug[move.device] = move.target
    return plug


@given(st.data())
def test_moves_give_the_plan_and_are_as_few_as_wrong_cables(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 24))
    spare = data.draw(st.integers(0, 4))
    ports = [port(n) for n in range(count + spare)]
    now = data.draw(st.permutations(ports))
    planned = data.draw(st.permutations(ports))
    found = {device(n): now[n] for n in range(count)}
    expected = {device(n): planned[n] for n in range(count)}
    moves = cable_moves(found, expected)
    assert done(found, moves) == expected
    assert len(moves) == sum(found[d] != expected[d] for d in found)
    assert cable_moves(expected, expected) == ()


@given(st.data())
def test_a_part_of_a_plan_moves_no_other_cable(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 16))
    found = {device(n): p for n, p in enumerate(data.draw(st.permutations([port(n) for n in range(count)])))}
    expected = {d: port(n) for n, d in enumerate(found) if data.draw(st.booleans())}
    moves = cable_moves(found, expected)
    assert {m.device for m in moves} == {d for d, end in expected.items() if found[d] != end}
    for move in moves:
        there = next((d for d, end in found.items() if end == move.target), None)
        assert move.taken == (there if there is not None and there not in expected else None)


def fibres(pairs: list[tuple[Place, Place]]) -> Ends:
    return {**dict(pairs), **{b: a for a, b in pairs}}


@given(st.data())
def test_of_a_fibre_one_plug_moves(data: st.DataObject) -> None:
    """Two servers or many: the plan joins any two by two, the fibres lie as they lie; some ends hear nothing."""
    half = data.draw(st.integers(1, 12))
    devices = [device(n) for n in range(2 * half)]
    now, then = data.draw(st.permutations(devices)), data.draw(st.permutations(devices))
    lying = [frozenset(now[n : n + 2]) for n in range(0, 2 * half, 2)]
    wanted = {frozenset(then[n : n + 2]) for n in range(0, 2 * half, 2)}
    whole = fibres([tuple(sorted(f)) for f in lying])  # type: ignore[misc]
    deaf = {max(f) for f in lying if data.draw(st.booleans())}
    moves = cable_moves({d: e for d, e in whole.items() if d not in deaf}, fibres([tuple(sorted(f)) for f in wanted]))  # type: ignore[misc]
    plugs = {f: set(f) for f in lying}
    for move in moves:
        fibre = next(f for f in lying if move.device in f)
        plugs[fibre].remove(move.origin)
        plugs[fibre].add(move.target)
        assert move.device in plugs[fibre], "the other plug stays"
    assert {frozenset(p) for p in plugs.values()} == wanted
    assert len(moves) == sum(f not in wanted for f in lying)


def test_a_ring_of_three_is_three_moves_and_its_last_is_pulled_out_first() -> None:
    found = {device(n): port(n) for n in range(3)}
    expected = {device(0): port(1), device(1): port(2), device(2): port(0)}
    moves = cable_moves(found, expected)
    assert [(str(m.device), m.target.port, m.ring) for m in moves] == [
        ("server1/2", "GE1/0/0", 1),
        ("server1/1", "GE1/0/2", 1),
        ("server1/0", "GE1/0/1", 1),
    ]
    assert moves[0].do.en == "move the cable of server1/2 from leaf1 GE1/0/2 to leaf1 GE1/0/0"


def test_two_exchanges_are_two_rings_of_two_moves() -> None:
    found = {device(n): port(n) for n in range(4)}
    expected = {device(0): port(1), device(1): port(0), device(2): port(3), device(3): port(2)}
    assert [m.ring for m in cable_moves(found, expected)] == [1, 1, 2, 2]


def test_any_port_of_the_planned_leaf_will_do() -> None:
    leaf = Place(PlaceKind.LEAF, "leaf2")
    moves = cable_moves({device(0): port(0), device(1): port(9)}, {device(0): leaf, device(1): leaf})
    assert [(str(m.device), str(m.target)) for m in moves] == [("server1/0", "leaf2")]


def test_a_plan_that_gives_one_port_twice_still_ends() -> None:
    found = {device(n): port(n) for n in range(3)}
    moves = cable_moves(found, {device(0): port(1), device(1): port(0), device(2): port(1)})
    assert {m.device for m in moves} == {device(0), device(1), device(2)}
