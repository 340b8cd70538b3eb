"""What the codes of rank-table rules mean, in the same sections as those of checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.kind.explanation import Explanation
from rankready.model.text import Text
from rankready.plan.ranktable.judge import rules

if TYPE_CHECKING:
    from rankready.plan.ranktable.rule import Rule


def explained() -> dict[Rule, Explanation]:
    """Return every rule with its explanation, in the order of their codes."""
    return {rule: _explanation(rule) for rule in rules()}


def _explanation(rule: Rule) -> Explanation:
    return Explanation(
        statement=rule.title.en,
        means=Text(f"A rank table breaks the rule that {rule.title.en}.", f"rank table 违反了规则：{rule.title.zh}。"),
        matters=Text(f"{rule.matters.en}{_told(rule).en}", f"{rule.matters.zh}{_told(rule).zh}"),
        mend=Text(_sentence(rule.mend.en), f"{rule.mend.zh}。"),
    )


def _told(rule: Rule) -> Text:
    if rule.silent:
        return Text(" HCCL says nothing of it.", "HCCL 对此没有任何提示。")
    words = f", in its log `{rule.tokens}`" if rule.tokens else ""
    words_zh = f"，日志中有 `{rule.tokens}`" if rule.tokens else ""
    if not rule.hccl:
        return Text("", "")
    return Text(f" HCCL ends with {rule.hccl}{words}.", f"HCCL 以 {rule.hccl} 失败{words_zh}。")


def _sentence(text: str) -> str:
    return f"{text}." if text.startswith("rankready ") else f"{text[0].upper()}{text[1:]}."
