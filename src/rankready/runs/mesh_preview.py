"""What probing will cost, and what its result will be worth."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from rankready.mesh.probe import Mode
from rankready.model.text import Text

if TYPE_CHECKING:
    from rankready.mesh.schedule import Schedule
    from rankready.runs.mesh_walk import Walk

ASSUMED_S = 1.5  # of one call, until measured (facts/mesh 5)
PACKETS, BYTES = 3, 2 * 64  # of one call; there and back (facts/hccn 3.1)
_MINUTE = 60


def preview(plan: Schedule, walk: Walk, per_host: int) -> Text:
    """Return calls, rounds, traffic, time and grade in one statement; the time from calls that were just measured."""
    calls = {name: plan.calls_of(name) for name in walk.of}
    total, most = sum(calls.values()), max(calls.values(), default=0)
    known = Counter(r.probe.source.name for r in walk.ledger.listed()) + walk.ledger.made_by()
    took = [s for w in walk.of.values() for s in w.took_s]
    each = median(took) if took else ASSUMED_S
    lanes = max(1, per_host)
    left = min(max((n - known[name] for name, n in calls.items()), default=0), walk.left) * each / lanes
    worth = grade_text(plan)
    basis = Text(
        en=f"{each:.2f} s a call, measured on {len(took)}" if took else f"assumes t = {ASSUMED_S} s a call",
        zh=f"每次 {each:.2f} 秒，实测 {len(took)} 次" if took else f"假定每次 {ASSUMED_S} 秒",
    )
    at_once = Text(
        en=f"{lanes} at a time" if per_host else "1 at a time, more where that does no harm",
        zh=f"同时 {lanes} 次" if per_host else "从同时 1 次起，无碍时增加",
    )
    size = f"{total * PACKETS * BYTES / 1e6:.1f} MB"
    return Text(
        en=f"{total:,} probes from {len(calls):,} servers in {len(plan.steps) + len(plan.references):,} rounds "
        f"(bound {plan.bound:,}): up to {most:,} calls each, {at_once.en}, {PACKETS} packets a call, {size} in all; "
        f"about {_told(left, 'min', 's')} ({basis.en}); {worth.en}",
        zh=f"{len(calls):,} 台服务器共 {total:,} 次探测，{len(plan.steps) + len(plan.references):,} 轮"
        f"（下界 {plan.bound:,}）：每台至多 {most:,} 次，{at_once.zh}，每次 {PACKETS} 个包，共 {size}；"
        f"约 {_told(left, '分', '秒')}（{basis.zh}）；{worth.zh}",
    )


def grade(plan: Schedule) -> str:
    """Return what the plan's result is worth: ``proof`` of all pairs, or ``localisation`` of culprits."""
    return "localisation" if plan.mode is Mode.SPARSE and plan.planned < _pairs(plan) else "proof"


def grade_text(plan: Schedule) -> Text:
    """Say it, with the denominator."""
    pairs = _pairs(plan)
    if grade(plan) == "proof":
        echo = "" if plan.mode is Mode.DIRECTED else ", each once: an echo tests both directions"
        both = "" if plan.mode is Mode.DIRECTED else "，每对一次：回显同时验证两个方向"
        return Text(
            en=f"a proof: {plan.planned:,} of {pairs:,} pairs of rails{echo}",
            zh=f"证明级：同轨设备对 {pairs:,} 个中的 {plan.planned:,} 个{both}",
        )
    share = f"{100 * plan.planned / pairs:.2g} %"
    return Text(
        en=f"localisation grade, not a proof: {plan.planned:,} of {pairs:,} pairs of rails ({share})",
        zh=f"定位级，并非证明：同轨设备对 {pairs:,} 个中的 {plan.planned:,} 个（{share}）",
    )


def _pairs(plan: Schedule) -> int:
    """Count the pairs of all rails: ordered where both directions are called, else unordered."""
    ordered = sum(len(group) * (len(group) - 1) for groups in plan.rails for group in groups)
    return ordered if plan.mode is Mode.DIRECTED else ordered // 2


def _told(seconds: float, minutes_word: str, seconds_word: str) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} {seconds_word}"
    return f"{seconds / _MINUTE:.1f} {minutes_word}"
