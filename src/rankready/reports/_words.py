"""The words of the text page, in both languages."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rankready.model.finding import Outcome
from rankready.model.text import Text
from rankready.reports._escape import say

if TYPE_CHECKING:
    from rankready.model.record import Record
    from rankready.model.text import Lang

_READY = {
    0: Text(en="READY", zh="就绪"),
    1: Text(en="NOT READY", zh="未就绪"),
    2: Text(en="NOT READY", zh="未就绪"),
    3: Text(en="UNDECIDED", zh="未定"),
    130: Text(en="INTERRUPTED", zh="已中断"),
}
_DONE = _READY | {0: Text(en="DONE", zh="已完成"), 1: Text(en="NOT DONE", zh="未完成")}
_JOB = _READY | {0: Text(en="JOB DONE", zh="作业完成"), 1: Text(en="JOB FAILED", zh="作业失败")}
_FAULT = _READY | {0: Text(en="NO FAULT FOUND", zh="未发现故障"), 1: Text(en="FAULT FOUND", zh="已找到故障")}
_LIST = _READY | {0: Text(en="LISTED", zh="已列出")}
# a job that was left while it runs is not done
_STANDS = {"running": Text(en="RUNNING", zh="运行中"), "stopping": Text(en="STOPPING", zh="正在停止")}
_BY_VERB = (
    {"run": _JOB, "attach": _JOB, "why": _FAULT}
    | dict.fromkeys(("undo", "sync", "stop", "logs", "bundle", "init"), _DONE)
    | {"ps": _LIST}
)

MARKS = {
    Outcome.FAIL: Text(en="FAIL", zh="故障"),
    Outcome.WARN: Text(en="WARN", zh="警告"),
    Outcome.UNKNOWN: Text(en="????", zh="未知"),
}
STEP_MARKS = {
    0: Text(en="ok", zh="完成"),
    3: Text(en="????", zh="未知"),
    130: Text(en="stop", zh="中断"),
}
FAILED = Text(en="FAIL", zh="失败")
PENDING = Text(en="todo", zh="待做")
SIMULATED = Text(
    en="SIMULATED: the answers come from a model, not from hardware", zh="模拟：以下结果来自模型，并非真实硬件"
)
SIMULATED_SHORT = Text(en="simulated", zh="模拟")
NEXT = Text(en="next: ", zh="处理：")
MORE = Text(en="and {n} more", zh="另有 {n} 项")
PLACES = Text(en="{n} places", zh="{n} 处")
EARLIER = Text(en="{n} earlier", zh="此前 {n} 项")
ALIKE = Text(en=", and alike", zh=" 等")
UNSET = Text(en="(unset)", zh="（未设置）")
NOT_KNOWN = Text(en="(not known)", zh="（未知）")
COVERED = Text(
    en="covered {proven:,} of {planned:,} pairs ({share} %)", zh="已覆盖 {proven:,}/{planned:,} 对（{share} %）"
)
NOTHING_PLANNED = Text(en="covered 0 of 0 pairs", zh="已覆盖 0/0 对")
ROUNDS = Text(en=", {n} rounds", zh="，{n} 轮")
BOUND = Text(en=", bound {n}", zh="，界限 {n}")
SUSPECT = Text(en="suspect", zh="疑点")
WITNESSES = Text(en="witnesses {n}", zh="见证 {n}")
READ_MORE = Text(en="more: ", zh="更多：")
EXIT = Text(en="exit {n}", zh="退出码 {n}")
COUNTS = (
    ("fail", Text(en="{n:,} faults", zh="{n:,} 处故障"), Text(en="1 fault", zh="1 处故障")),
    ("warn", Text(en="{n:,} warnings", zh="{n:,} 处警告"), Text(en="1 warning", zh="1 处警告")),
    ("unknown", Text(en="{n:,} unknown", zh="{n:,} 处未知"), Text(en="1 unknown", zh="1 处未知")),
    ("problem", Text(en="{n:,} conflicts", zh="{n:,} 处冲突"), Text(en="1 conflict", zh="1 处冲突")),
    ("change", Text(en="{n:,} changes", zh="{n:,} 项变更"), Text(en="1 change", zh="1 项变更")),
    ("unread", Text(en="{n:,} not read", zh="{n:,} 处未读到"), Text(en="1 not read", zh="1 处未读到")),
    ("implied", Text(en="{n:,} follow from these", zh="{n:,} 处由此引起"), Text(en="1 follows", zh="1 处由此引起")),
    ("pass", Text(en="{n:,} as planned", zh="{n:,} 项正常"), Text(en="1 as planned", zh="1 项正常")),
    ("skip", Text(en="{n:,} skipped", zh="{n:,} 项跳过"), Text(en="1 skipped", zh="1 项跳过")),
)
"""Outcome or kind → many, one; in the order in which they are told."""


def state(record: Record, lang: Lang) -> str:
    """Say in a word or two how it stands."""
    words = _BY_VERB.get(record.verb, _READY)
    reached = record.extra.get("ranks") and record.extra.get("stopped_at") in (None, "run")
    if record.verb == "up" and reached:  # the guide came as far as the job: that is what is asked
        words = _JOB
    if record.exit == 0 and record.extra.get("phase") in _STANDS:
        return _STANDS[str(record.extra["phase"])].to(lang)
    return words.get(record.exit, words[1]).to(lang)


def sizes(record: Record, lang: Lang) -> str:
    """Say how large the cluster is; empty where the record does not tell."""
    told = Text(en="{s} servers, {d} devices", zh="{s} 台服务器，{d} 个设备").to(lang)
    return told.format(s=f"{record.servers:,}", d=f"{record.devices:,}") if record.servers else ""


def counts(record: Record, lang: Lang) -> str:
    """Count outcomes and changes, worst first."""
    counted: Counter[str] = Counter(v.outcome.value for v in record.verdicts)
    if record.plan is not None:
        counted["problem"] = len(record.plan.problems)
        counted["change"] = len(record.plan.changes)
        counted["unread"] = len(record.plan.unread)
    told = []
    for key, many, one in COUNTS:
        if counted[key]:
            told.append(one.to(lang) if counted[key] == 1 else many.to(lang).format(n=counted[key]))
    return Text(en=", ", zh="，").to(lang).join(told)


def duration(seconds: float, lang: Lang) -> str:
    """Write a duration: ``0.8 s``, ``1 min 52 s``, ``2 h 5 min``."""
    minute, hour = Text(en="min", zh="分"), Text(en="h", zh="小时")
    second = Text(en="s", zh="秒").to(lang)
    if not 0 <= seconds < 1e9:  # noqa: PLR2004  (a clock gone wrong, not a run of thirty years)
        return f"? {second}"
    if seconds < 10:  # noqa: PLR2004  (tenths matter below ten seconds)
        return f"{seconds:.1f} {second}"
    whole = round(seconds)
    if whole < 60:  # noqa: PLR2004  (a minute)
        return f"{whole} {second}"
    if whole < 3600:  # noqa: PLR2004  (an hour)
        return f"{whole // 60} {minute.to(lang)} {whole % 60} {second}"
    return f"{whole // 3600} {hour.to(lang)} {whole % 3600 // 60} {minute.to(lang)}"


def share(proven: int, planned: int) -> str:
    """Write a percentage with one decimal; less than all is never rounded up to 100."""
    if proven >= planned:
        return "100"
    return f"{min(proven / planned * 100, 99.9):.1f}"


def either(value: object, lang: Lang) -> str:
    """Read a statement from a record's own parts: a Text, ``{en, zh}``, or any other value."""
    if isinstance(value, dict) and {"en", "zh"} <= value.keys():
        return say(str(value[lang.value]), lang)
    if isinstance(value, Text):
        return say(value, lang)
    return "" if value is None else say(str(value), lang)
