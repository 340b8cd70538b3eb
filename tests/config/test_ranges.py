from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.config.ranges import MOST_SERVERS, expand, fold, numbers

WORDS = st.text("abcxyz.-_", min_size=1, max_size=6)
DIGITS = st.text("0123456789", min_size=1, max_size=4)
NAMES = st.builds("".join, st.lists(st.one_of(WORDS, DIGITS), min_size=1, max_size=5))


@given(st.lists(NAMES, max_size=40))
def test_folding_and_expanding_gives_the_same_names(names: list[str]) -> None:
    expanded = [name for text in fold(names) for name in expand(text)]
    assert sorted(expanded) == sorted(set(names))


@given(st.integers(0, 999), st.integers(0, 300), st.integers(1, 4))
def test_a_range_keeps_its_padding(low: int, more: int, width: int) -> None:
    first, last = f"{low:0{width}}", f"{low + more:0{width}}"
    names = expand(f"node[{first}-{last}].example")
    assert len(names) == more + 1
    assert names[0] == f"node{first}.example"
    assert all(len(n) >= len(names[0]) for n in names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node-1-4", ("node-1-4",)),
        ("10.0.0.11", ("10.0.0.11",)),
        ("node[1-3]", ("node1", "node2", "node3")),
        ("node[01-03].x", ("node01.x", "node02.x", "node03.x")),
        ("node[1-2,7]", ("node1", "node2", "node7")),
        ("node[08-11]", ("node08", "node09", "node10", "node11")),
        ("node[9-11]", ("node9", "node10", "node11")),
        ("r[1-2]n[3-4]", ("r1n3", "r1n4", "r2n3", "r2n4")),
        ("root@10.0.0.[11-12]:22", ("root@10.0.0.11:22", "root@10.0.0.12:22")),
        ("node[5]", ("node5",)),
        ("node[1,01]", ("node1", "node01")),
    ],
)
def test_only_brackets_make_a_range(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("node[4-1]", "reversed"),
        ("node[1-4,4-6]", "4 stands in two ranges"),
        ("node[1", "bracket"),
        ("node1]", "bracket"),
        ("node[[1-2]]", "bracket"),
        ("node[]", "no number"),
        ("node[1-]", "no number"),
        ("node[a-c]", "no number"),
        ("node[1-2-3]", "no number"),
        ("node[1-\N{ARABIC-INDIC DIGIT TWO}]", "no number"),
        (f"node[1-{MOST_SERVERS + 1}]", "more than"),
        ("a[0-999]b[0-999]c[0-999]", "1000000000 names"),
    ],
)
def test_what_is_no_range_says_why(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        expand(text)


def test_the_most_servers_are_still_a_range() -> None:
    assert len(expand(f"node[1-{MOST_SERVERS}]")) == MOST_SERVERS


@pytest.mark.parametrize(("text", "ids"), [("0-7", tuple(range(8))), ("0-1, 4", (0, 1, 4)), ("3", (3,))])
def test_device_ids(text: str, ids: tuple[int, ...]) -> None:
    assert numbers(text) == ids


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([f"server{i}/{d}" for i in range(1, 5) for d in range(8)], ("server[1-4]/[0-7]",)),
        (["server1/3", "server2/3", "server4/3", "leaf1"], ("server[1-2,4]/3", "leaf1")),
        (["a1", "a1"], ("a1",)),
        (["b", "a"], ("b", "a")),
        ([f"n{i:03}.dc2" for i in range(1, 129)], ("n[001-128].dc2",)),
        ([], ()),
    ],
)
def test_many_names_become_few(names: list[str], folded: tuple[str, ...]) -> None:
    assert fold(names) == folded
