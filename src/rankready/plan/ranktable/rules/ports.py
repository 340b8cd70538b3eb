"""Ports in a table (facts/launch 1.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.cluster import Generation
from rankready.model.text import Text
from rankready.plan.ranktable.rule import NOTE, WARNING, Rule, mark, word_spot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.plan.ranktable.rule import Mark, Sheet
    from rankready.plan.ranktable.table import Card, Word

_LAST = 65535
_PRIVILEGED = 1023


def _bad(sheet: Sheet) -> Iterator[Mark]:
    for card, key, word in _ports(sheet):
        number = word.number
        if number is None or not 1 <= number <= _LAST:
            yield mark(
                word_spot(word, card),
                f"{key} {word.text!r}, a port is 1 to {_LAST}",
                f"{key} 为 {word.text!r}，端口范围为 1 至 {_LAST}",
            )
        elif number <= _PRIVILEGED:
            yield mark(
                word_spot(word, card),
                f"{key} {number} is one of the system's own ports",
                f"{key} {number} 属于系统保留端口",
                WARNING,
            )


def _ports(sheet: Sheet) -> Iterator[tuple[Card, str, Word]]:
    for card in sheet.table.cards() if sheet.table else ():
        for key in ("device_port", "backup_device_port", "host_port"):
            word = getattr(card, key)
            if word is not None:
                yield card, key, word


def _shared(sheet: Sheet) -> Iterator[Mark]:
    for name, cards in sheet.table.hosts() if sheet.table else ():
        first: dict[int, Word] = {}
        for card in cards:
            word = card.host_port
            if word is None or word.number is None:
                continue
            if (before := first.setdefault(word.number, word)) is not word:
                yield mark(
                    word_spot(word, card),
                    f"host_port {word.number} stands twice on server {name!r}, first in line {before.line}",
                    f"host_port {word.number} 在服务器 {name!r} 上重复，首次在第 {before.line} 行",
                )


def _misfit(sheet: Sheet) -> Iterator[Mark]:
    generation = sheet.product.generation
    unfit = {Generation.A1: ("device_port", "host_port"), Generation.A2: ("host_port",)}.get(generation, ())
    for card, key, word in _ports(sheet):
        if key in unfit:
            yield mark(
                word_spot(word, card),
                f"{key} means nothing on {generation.name}",
                f"{key} 在 {generation.name} 上无意义",
            )
            return


_MEND = Text("leave the key out, or choose from 1024 to 65535", "去掉该键，或在 1024 至 65535 中选择")

RULES = (
    Rule(
        code="RTB060",
        name="port_bad",
        title=Text("ports are ports", "端口合法"),
        matters=Text("HCCL refuses the table; 0 is reserved.", "HCCL 拒绝该表；0 为保留值。"),
        mend=_MEND,
        judge=_bad,
        hccl="EI0014",
    ),
    Rule(
        code="RTB061",
        name="host_port_shared",
        title=Text("no two devices of a server share a host_port", "同一服务器的设备不共用 host_port"),
        matters=Text("Only one of the two can listen there.", "两者中只有一个能在该端口监听。"),
        mend=_MEND,
        judge=_shared,
    ),
    Rule(
        code="RTB062",
        name="port_misfit",
        title=Text("ports are given where they mean something", "端口仅在有意义时给出"),
        matters=Text("The key has no effect on this generation.", "该键在此产品代上不起作用。"),
        mend=_MEND,
        judge=_misfit,
        severity=NOTE,
    ),
)
