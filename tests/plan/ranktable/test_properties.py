"""Whatever stands in a file: a written table passes, a broken one is named, and nothing crashes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rank_tables import members, page, parsed, said, tables, word

from rankready.model.cluster import Generation
from rankready.plan.ranktable import judge
from rankready.plan.ranktable.json_text import Broken, Kind, Node, parse
from rankready.plan.ranktable.writer import Form, write

if TYPE_CHECKING:
    from rankready.plan.ranktable.writer import Member

if TYPE_CHECKING:
    from random import Random

GENERATIONS = [None, *Generation]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(), below, max_size=4),
    max_leaves=20,
)


@given(tables())
def test_what_is_written_is_judged_ok(made: tuple[Generation, Form, tuple[Member, ...]]) -> None:
    generation, form, enlisted = made
    data = write(enlisted, form)
    assert said(data, generation) == {}
    assert word(data, None) == "ok"


@given(tables(), st.randoms())
def test_the_same_members_give_the_same_bytes_in_any_order_of_devices(
    made: tuple[Generation, Form, tuple[Member, ...]], chance: Random
) -> None:
    _, form, enlisted = made
    shuffled = tuple(replace(m, seats=tuple(chance.sample(m.seats, len(m.seats)))) for m in enlisted)
    assert write(shuffled, form) == write(enlisted, form)


@given(tables(), st.data())
def test_a_table_cut_anywhere_is_no_table(
    made: tuple[Generation, Form, tuple[Member, ...]], data: st.DataObject
) -> None:
    generation, form, enlisted = made
    whole = write(enlisted, form).rstrip()
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    assert said(cut, generation) == {"RTB004": "fail"}


@given(tables(), st.data(), st.sampled_from(GENERATIONS))
def test_a_damaged_table_never_crashes_and_always_has_a_verdict(
    made: tuple[Generation, Form, tuple[Member, ...]], data: st.DataObject, generation: Generation | None
) -> None:
    _, form, enlisted = made
    whole = bytearray(write(enlisted, form))
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=6)):
        whole[at] = data.draw(st.integers(0, 255))
    found = page(bytes(whole), generation)
    assert judge.word(judge.verdicts(found)) in ("ok", "warn", "invalid")
    assert all(isinstance(v["code"], str) for v in judge.violations(found))


@given(st.binary(max_size=400), st.sampled_from(GENERATIONS))
def test_any_bytes_have_a_verdict(data: bytes, generation: Generation | None) -> None:
    assert word(data, generation) == "invalid"


def leaves(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in leaves(v, (*path, k))]
    if isinstance(value, list):
        return [p for k, v in enumerate(value) for p in leaves(v, (*path, k))]
    return [path]


def put(table: dict[str, Any], path: tuple[Any, ...], value: object) -> None:
    below: Any = table
    for key in path[:-1]:
        below = below[key]
    below[path[-1]] = value


@given(tables(), st.data())
def test_a_value_of_another_kind_is_always_refused(
    made: tuple[Generation, Form, tuple[Member, ...]], data: st.DataObject
) -> None:
    generation, form, enlisted = made
    table = parsed(write(enlisted, form))
    path = data.draw(st.sampled_from(leaves(table)))
    put(table, path, data.draw(st.sampled_from([7, None, True, [], {}, 1.5])))
    assert said(json.dumps(table).encode(), generation)["RTB011"] == "fail"


@given(tables(), st.data())
@settings(max_examples=200)
def test_two_ranks_exchanged_between_servers_are_always_seen(
    made: tuple[Generation, Form, tuple[Member, ...]], data: st.DataObject
) -> None:
    generation, form, enlisted = made
    if form is Form.GROUP_LIST or len(enlisted) < 2 or len(enlisted[0].seats) < 2:
        return
    table = parsed(write(enlisted, form))
    one, other = data.draw(
        st.lists(st.integers(0, len(enlisted) - 1), min_size=2, max_size=2, unique=True), label="servers"
    )
    a = data.draw(st.sampled_from(table["server_list"][one]["device"]))
    b = data.draw(st.sampled_from(table["server_list"][other]["device"]))
    a["rank_id"], b["rank_id"] = b["rank_id"], a["rank_id"]
    assert said(json.dumps(table).encode(), generation)["RTB073"] == "fail"


@given(JSON, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_our_reader_reads_what_pythons_reads(value: object, indent: int | str | None, plain: bool) -> None:  # noqa: FBT001  (hypothesis passes by position)
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    if any(0xD800 <= ord(c) <= 0xDFFF for c in text) or "\\ud" in text.lower():
        return
    found = parse(text)
    assert isinstance(found, Node)
    assert same(found, json.loads(text))


def same(node: Node, value: Any) -> bool:  # noqa: ANN401  (JSON is any value)
    match node.kind:
        case Kind.OBJECT:
            return dict(node.members).keys() == value.keys() and all(same(n, value[k]) for k, n in node.members)
        case Kind.LIST:
            return len(node.items) == len(value) and all(map(same, node.items, value))
        case Kind.STRING:
            return bool(node.text == value)
        case Kind.NUMBER:
            return math.isclose(float(node.text), float(value))
        case Kind.WORD:
            return bool(json.loads(node.text) is value)


@given(st.text(alphabet='{}[]:,"\\ntrue01.-e /*#\n', max_size=40))
def test_our_reader_refuses_what_pythons_refuses(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        assert isinstance(parse(text), Broken)
    else:
        assert isinstance(parse(text), Node)


@given(JSON)
def test_each_value_knows_its_line(value: object) -> None:
    text = json.dumps(value, indent=1)
    found = parse(text)
    if isinstance(found, Node):
        lines = text.split("\n")
        for node in found.walk():
            if node.kind is Kind.STRING and node.text.isascii() and node.text.isprintable():
                assert json.dumps(node.text) in lines[node.line - 1]


def test_a_table_for_thousands_of_ranks_is_judged_in_a_moment() -> None:
    data = write(members(Generation.A2, 500, tuple(range(8))), Form.PLAIN)
    assert word(data, Generation.A2) == "ok"
