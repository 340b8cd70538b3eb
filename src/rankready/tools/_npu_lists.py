"""Reads the two lists of `npu-smi info`: `-m` (ids) and `-l` (counts) (facts/hccn 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.chips import ChipCount, ChipMap
from rankready.model.observed.host import Chip
from rankready.model.snapshot import Gap
from rankready.tools._npu_words import payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.command import Reply

_COLUMNS = frozenset({"NPU ID", "Slot ID", "Chip ID", "Chip Logic ID", "Chip Phy-ID", "Chip Name"})
_NEEDED = frozenset({"NPU ID", "Chip ID", "Chip Name"})
_GAP = re.compile(r"\s{2,}")
_ID = re.compile(r"\d{1,3}", re.ASCII)
_CONTROLLER = "Mcu"
_ROW = re.compile(r"\s*(Total Count|NPU ID|Chip Count)\s*: (\d{1,3})\s*", re.ASCII)


def read_map(reply: Reply) -> ChipMap | Gap:
    """Read `-m` with 4 columns (A1, A2) or 5 (A3, A5), in any of their orders; controllers (Mcu) are passed over.

    Chips of an NPU number from 0, logic ids too, physical ids are distinct; a list cut between two NPUs that carry no
    further sign passes.
    """
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    head = tuple(_GAP.split(said[0].strip()))
    if not _NEEDED <= set(head) <= _COLUMNS or len(set(head)) != len(head):
        return unexpected(said)
    rows = [dict(zip(head, _GAP.split(line.strip()), strict=False)) for line in said[1:]]
    chips: list[Chip] = []
    for row, line in zip(rows, said[1:], strict=True):
        if not _is_row(row, line, head):
            return unexpected(line)
        if row["Chip Name"] != _CONTROLLER:
            chips.append(_chip(row))
    return _consistent(rows, tuple(chips))


def read_count(reply: Reply) -> ChipCount | Gap:
    """Read `-l`: as many NPUs as the total says."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    rows = [(m[1], int(m[2])) for line in said if (m := _ROW.fullmatch(line))]
    body = rows[1:]
    labels = [label for label, _ in body]
    if len(rows) != len(said) or rows[0][0] != "Total Count" or labels != ["NPU ID", "Chip Count"] * (len(body) // 2):
        return unexpected(said)
    found = tuple((npu, count) for (_, npu), (_, count) in zip(body[::2], body[1::2], strict=True))
    if len(found) != rows[0][1] or len({npu for npu, _ in found}) != len(found):
        return Gap(
            f"{len(found)} NPUs listed, {rows[0][1]} counted", zh=f"列出 {len(found)} 个 NPU，计数为 {rows[0][1]}"
        )
    return ChipCount(chips=found)


def _is_row(row: Mapping[str, str], line: str, head: tuple[str, ...]) -> bool:
    if len(_GAP.split(line.strip())) != len(head) or not line.startswith("\t"):
        return False
    controller = row["Chip Name"] == _CONTROLLER
    sure = ("NPU ID", "Slot ID", "Chip ID")
    return all(
        _ID.fullmatch(value) or (controller and value == "-" and column not in sure)
        for column, value in row.items()
        if column != "Chip Name"
    )


def _chip(row: Mapping[str, str]) -> Chip:
    logic, physical = row.get("Chip Logic ID"), row.get("Chip Phy-ID")
    return Chip(
        npu=int(row["NPU ID"]),
        chip=int(row["Chip ID"]),
        name=row["Chip Name"],
        logic=int(logic) if logic else None,
        physical=int(physical) if physical else None,
    )


def _consistent(rows: list[dict[str, str]], chips: tuple[Chip, ...]) -> ChipMap | Gap:
    keys = [(int(r["NPU ID"]), int(r["Chip ID"])) for r in rows]
    if not chips or keys != sorted(set(keys)):
        return Gap("a chip stands twice or out of order, or there is none", zh="芯片重复、乱序或没有芯片")
    for npu in {npu for npu, _ in keys}:
        own = [chip for n, chip in keys if n == npu]
        if own != list(range(len(own))):
            return Gap(f"a chip of NPU {npu} is missing in the list", zh=f"列表中缺少 NPU {npu} 的一个芯片")
    logic = [c.logic for c in chips if c.logic is not None]
    physical = [c.physical for c in chips if c.physical is not None]
    if logic != list(range(len(logic))) or len(set(physical)) != len(physical):
        return Gap("logic ids are missing, or physical ids stand twice", zh="逻辑号缺失，或物理号重复")
    return ChipMap(chips=chips)
