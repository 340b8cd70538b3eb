from __future__ import annotations

import pytest

from rankready import catalog
from rankready.kind.explanation import SECTIONS, read

GOOD = """A port is down.

Means:
    The port
    is down.

    Nothing passes.
Matters:
    A job stops.
Mend:
    Look at `x`.
含义：
    端口
    断开，见 EI0006
    说明。
影响：
    任务停止。
修复：
    查看 `x`。
"""


def test_sections_of_both_languages() -> None:
    found = read(GOOD)
    assert found.statement == "A port is down."
    assert found.means.en == "The port is down.\n\nNothing passes."
    assert found.means.zh == "端口断开，见 EI0006 说明。"
    assert found.mend.zh == "查看 `x`。"


def test_a_section_may_begin_beside_its_heading() -> None:
    assert read(GOOD.replace("Matters:\n    A job", "Matters: A job")).matters.en == "A job stops."


@pytest.mark.parametrize("heading", [h for text in SECTIONS.values() for h in (text.en, text.zh)])
def test_a_missing_section_is_named(heading: str) -> None:
    with pytest.raises(ValueError, match=heading):
        read(GOOD.replace(heading, ""))


@pytest.mark.parametrize("name", catalog.names("checks"))
def test_every_check_can_be_explained(name: str) -> None:
    assert read(catalog.module("checks", name).__doc__ or "").statement.endswith(".")
