from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rankready.runs.guard_link import Piece
from rankready.runs.job_output import LINE_LIMIT, TAIL_BYTES, Lines, Tails, harmless


def one(data: bytes, rank: int | None = 3, skipped: int = 0) -> Piece:
    log = "train/launcher.log" if rank is None else f"train/rank-{rank}.log"
    return Piece(server="server1", log=log, rank=rank, at=0, data=data, skipped=skipped)


def shown(*pieces: bytes, rank: int | None = 3, flush: bool = True) -> list[str]:
    found: list[str] = []
    lines = Lines(found.append)
    for piece in pieces:
        lines.take(one(piece, rank))
    if flush:
        lines.flush()
    return found


def test_pieces_become_lines_with_their_rank_in_front() -> None:
    assert shown(b"he", b"llo\nwor", b"ld\n") == ["[3] hello", "[3] world"]


def test_an_agents_lines_carry_the_servers_name() -> None:
    assert shown(b"epoch 1\n", rank=None) == ["[server1] epoch 1"]


def test_what_never_got_its_end_is_shown_at_the_end() -> None:
    assert shown(b"no end", flush=False) == []
    assert shown(b"no end") == ["[3] no end"]


def test_progress_bars_become_lines() -> None:
    assert shown(b"10%\r20%\r\n") == ["[3] 10%", "[3] 20%"]


def test_a_line_without_end_is_shown_in_pieces() -> None:
    assert "".join(x[4:] for x in shown(b"x" * (LINE_LIMIT + 1), b"y\n")) == "x" * (LINE_LIMIT + 1) + "y"


def test_colours_go_and_cursors_are_marked() -> None:
    assert shown(b"\x1b[31mred\x1b[0m \x1b[2J\x07\n") == ["[3] red \ufffd[2J\ufffd"]


def test_only_wanted_ranks_are_shown_and_agents_always() -> None:
    found: list[str] = []
    lines = Lines(found.append, frozenset({1, 3}))
    for rank in (0, 1, 2, 3, None):
        lines.take(one(f"of {rank}\nrest".encode(), rank))
    lines.flush()
    assert found == ["[1] of 1", "[3] of 3", "[server1] of None", "[1] rest", "[3] rest", "[server1] rest"]


def test_what_the_server_does_not_hold_any_more_is_said() -> None:
    found: list[str] = []
    lines = Lines(found.append)
    lines.take(one(b"old\ncut he"))
    lines.take(one(b"new\n", skipped=4096))
    assert found == ["[3] old", "[3] ... 4096 bytes are not held any more ...", "[3] new"]


def test_a_tail_keeps_the_last_lines_alone() -> None:
    tails = Tails()
    assert tails.last("server1", "train/rank-0.log") == ()
    for number in range(9000):
        tails.take("server1", "train/rank-0.log", f"line {number}\n".encode())
    assert tails.last("server1", "train/rank-0.log") == tuple(f"line {n}" for n in range(8960, 9000))
    tails.take("server1", "train/rank-0.log", b"x" * 2 * TAIL_BYTES)
    assert tails.last("server1", "train/rank-0.log") == ("x" * TAIL_BYTES,)


@given(st.binary(max_size=300))
def test_nothing_that_a_rank_prints_reaches_the_terminal_as_a_control(data: bytes) -> None:
    for line in shown(data):
        assert not [c for c in line if (ord(c) < 32 and c != "\t") or 0x7F <= ord(c) < 0xA0]


@given(st.text(max_size=200))
def test_harmless_keeps_ordinary_text(text: str) -> None:
    if text.isprintable():
        assert harmless(text) == text
