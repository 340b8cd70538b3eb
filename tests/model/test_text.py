from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankready.model.text import Lang, Text, visible


def test_a_text_speaks_both_languages() -> None:
    assert Text(en="up", zh="通").to(Lang.EN) == "up"
    assert Text(en="up", zh="通").to(Lang.ZH) == "通"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("端口 down", "端口 down"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\u202eabc", "\\u202eabc"),
        ("a\u2028b", "a\\u2028b"),
        ("a\N{NO-BREAK SPACE}b\N{IDEOGRAPHIC SPACE}c", "a b c"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_what_a_terminal_would_obey_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_nothing_unprintable_is_left(text: str) -> None:
    assert visible(text).isprintable()
    assert visible(visible(text)) == visible(text)
