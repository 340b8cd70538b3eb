from __future__ import annotations

import pytest

from rankready.plan.ranktable.explained import explained
from rankready.plan.ranktable.judge import rules


def test_every_rule_is_explained() -> None:
    assert tuple(explained()) == rules()


@pytest.mark.parametrize("rule", rules(), ids=lambda r: r.name)
def test_an_explanation_speaks_both_languages(rule: object) -> None:
    found = next(e for r, e in explained().items() if r == rule)
    for text in (found.means, found.matters, found.mend):
        assert text.en.isascii()
        assert text.en.endswith((".", "`."))
        assert text.zh.endswith("。")


def test_what_hccl_would_have_said_is_told() -> None:
    told = {r.code: e.matters.en for r, e in explained().items()}
    assert "EI0017" in told["RTB010"]
    assert "says nothing" in told["RTB073"]
