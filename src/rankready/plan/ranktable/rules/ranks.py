"""Rank ids and their order (facts/launch 1.3)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, Rule, Spot, machine_spot, mark, word_spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Machine, Table, Word


def _bad(sheet: Sheet) -> Iterator[Mark]:
    for card in sheet.table.cards() if sheet.table else ():
        word = card.rank_id
        if word is not None and word.number is None:
            yield mark(word_spot(word, card), f"rank_id {word.text!r} is no number", f"rank_id {word.text!r} 不是数字")


def _twice(sheet: Sheet) -> Iterator[Mark]:
    first: dict[int, Word] = {}
    for card in sheet.table.cards() if sheet.table else ():
        word = card.rank_id
        if word is None or word.number is None:
            continue
        if (before := first.setdefault(word.number, word)) is not word:
            yield mark(
                word_spot(word, card),
                f"rank {word.number} stands twice, first in line {before.line}",
                f"rank {word.number} 重复，首次在第 {before.line} 行",
            )


def _gap(sheet: Sheet) -> Iterator[Mark]:
    """Only where every rank is a number: a bad one leaves a gap of its own."""
    cards = list(sheet.table.cards()) if sheet.table else []
    ranks = {c.rank for c in cards}
    if None in ranks:
        return
    for card in cards:
        word = card.rank_id
        if word is not None and word.number is not None and word.number >= len(cards):
            yield mark(
                word_spot(word, card),
                f"rank {word.number} of {len(cards)}: ranks count from 0 to {len(cards) - 1}",
                f"rank {word.number} 超出范围：共 {len(cards)} 个，应为 0 至 {len(cards) - 1}",
            )


def _crossed(sheet: Sheet) -> Iterator[Mark]:
    """The next server's first rank comes after this one's last; judged only where no rank stands twice."""
    spans = _spans(sheet.table)
    for (_, last, machine), (first, _, after) in pairwise(sorted(spans, key=lambda s: s[0])):
        if first < last:
            one, other = _name(machine), _name(after)
            yield mark(
                machine_spot(after),
                f"ranks cross: server {one!r} goes up to rank {last}, server {other!r} begins with {first}",
                f"rank 交叉：服务器 {one!r} 的最大 rank 为 {last}，服务器 {other!r} 却从 {first} 开始",
            )


def _order(sheet: Sheet) -> Iterator[Mark]:
    spans = _spans(sheet.table)
    if [s[0] for s in spans] != sorted(s[0] for s in spans):
        yield mark(
            Spot(path="server_list"), "servers are not listed in the order of their ranks", "服务器未按 rank 顺序排列"
        )


def _spans(table: Table | None) -> list[tuple[int, int, Machine]]:
    """Return first and last rank of each server; nothing where a rank stands twice."""
    if table is None:
        return []
    ranks = [c.rank for c in table.cards() if c.rank is not None]
    if len(set(ranks)) != len(ranks):
        return []
    found = []
    for machine in table.machines:
        own = [c.rank for c in machine.cards if c.rank is not None]
        if own:
            found.append((min(own), max(own), machine))
    return found


def _name(machine: Machine) -> str:
    return machine.server_id.text if machine.server_id else machine.path


_MEND = Text(
    "number the ranks server by server: rankready ranktable write", "逐台服务器连续编号：rankready ranktable write"
)

RULES = (
    Rule(
        code="RTB070",
        name="rank_bad",
        title=Text("rank ids are numbers", "rank_id 为数字"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=_MEND,
        judge=_bad,
        hccl="EI0014",
    ),
    Rule(
        code="RTB071",
        name="rank_twice",
        title=Text("no two devices have one rank", "没有两个设备使用同一 rank"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=_MEND,
        judge=_twice,
        hccl="EI0014",
    ),
    Rule(
        code="RTB072",
        name="rank_gap",
        title=Text("ranks count from 0 without a gap", "rank 从 0 起连续"),
        matters=Text("HCCL refuses the table.", "HCCL 拒绝该表。"),
        mend=_MEND,
        judge=_gap,
        hccl="EI0014",
    ),
    Rule(
        code="RTB073",
        name="ranks_crossed",
        title=Text("ranks do not cross between servers", "rank 不在服务器之间交叉"),
        matters=Text(
            "The guide forbids it; HCCL takes it and builds a wrong or slow topology.",
            "手册禁止；HCCL 却会接受，并形成错误或缓慢的拓扑。",
        ),
        mend=_MEND,
        judge=_crossed,
        silent=True,
    ),
    Rule(
        code="RTB074",
        name="servers_unordered",
        title=Text("servers stand in the order of their ranks", "服务器按 rank 顺序排列"),
        matters=Text("Convention; people and scripts expect it.", "约定如此；人和脚本都以此为前提。"),
        mend=_MEND,
        judge=_order,
        severity=NOTE,
    ),
)
