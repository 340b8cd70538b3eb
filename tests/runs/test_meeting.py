"""How many ranks reached init: what is said while a person waits, and that nothing is said that was not seen."""

from __future__ import annotations

from rankready.model.ranks import LaunchSpec, Node
from rankready.runs.meeting import Meeting

NOBODY: frozenset[int] = frozenset()


def meeting(nodes: int = 2, each: int = 4) -> Meeting:
    return Meeting(
        LaunchSpec(
            job="job-1234",
            nodes=tuple(
                Node(server=f"server{i + 1}", node_rank=i, address="10.0.0.1", devices=tuple(range(each)))
                for i in range(nodes)
            ),
            master_addr="10.0.0.1",
            master_port=29500,
            argv=("train.py",),
        )
    )


def came(*ranks: int, at: float = 100.0) -> dict[str, dict[int, float]]:
    return {
        "server1": {r: at + r for r in ranks if r < 4},
        "server2": {r: at + r for r in ranks if r >= 4},
    }


def held(first: dict[str, dict[int, float]]) -> dict[str, frozenset[int]]:
    return {server: frozenset(times) for server, times in first.items()}


def test_who_is_waited_for_is_named_by_server() -> None:
    first = came(0, 1, 2, 4, 7)
    text = meeting().words(first, held(first), 10.0)
    assert text is not None
    assert text.en == "5 of 8 ranks reached init; not yet: server1: 3, server2: 5-6"
    assert text.zh.startswith("5/8 个 rank 已到达初始化")


def test_a_quick_start_needs_no_word_and_the_whole_is_said_once() -> None:
    one = meeting()
    first = came(0, 1, 2)
    assert one.words(first, held(first), 1.0) is None
    first = came(*range(8))
    text = one.words(first, held(first), 1.2)
    assert text is not None
    assert text.en == "all 8 ranks reached init, 7.0 s apart"
    assert one.words(first, held(first), 60.0) is None


def test_the_same_is_said_again_only_after_a_while() -> None:
    one, first = meeting(), came(0)
    assert one.words(first, held(first), 5.0) is not None
    assert one.words(first, held(first), 6.0) is None
    assert one.words(first, held(first), 40.0) is not None
    more = came(0, 1)
    assert one.words(more, held(more), 41.0) is not None


def test_ranks_that_let_go_at_once_are_not_waited_for() -> None:
    first = came(0, 1, 2)
    assert meeting().words(first, {"server1": NOBODY, "server2": NOBODY}, 60.0) is None


def test_a_server_can_not_speak_for_anothers_ranks() -> None:
    told = meeting().told({"server2": {0: 1.0, 4: 2.0, 99: 3.0}})
    assert (told["reached"], told["skew_s"], told["missing"]) == (1, None, [0, 1, 2, 3, 5, 6, 7])


def test_the_record_gives_a_skew_only_when_all_came() -> None:
    assert meeting().told(came(*range(8))) == {"reached": 8, "world": 8, "skew_s": 7.0, "missing": []}
    assert meeting().told({})["skew_s"] is None
