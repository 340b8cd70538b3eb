from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rankready.runs.job_output import LINE_LIMIT, Lines, harmless


def shown(*pieces: bytes, rank: int | None = 3, flush: bool = True) -> list[str]:
    found: list[str] = []
    lines = Lines(found.append)
    for piece in pieces:
        lines.take("server1", "train/rank-3.log" if rank is not None else "train/launcher.log", rank, piece)
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


@given(st.binary(max_size=300))
def test_nothing_that_a_rank_prints_reaches_the_terminal_as_a_control(data: bytes) -> None:
    for line in shown(data):
        assert not [c for c in line if (ord(c) < 32 and c != "\t") or 0x7F <= ord(c) < 0xA0]


@given(st.text(max_size=200))
def test_harmless_keeps_ordinary_text(text: str) -> None:
    if text.isprintable():
        assert harmless(text) == text
