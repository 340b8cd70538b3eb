"""Reads the table of `npu-smi info`, at any width (facts/hccn 10).

Split at bars and blanks, never at column numbers. Whole when every NPU of the first table has a word in the second.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankready.kind.reading import unexpected
from rankready.model.observed.host import Chip, Chips
from rankready.model.snapshot import Gap
from rankready.tools._npu_words import payload

if TYPE_CHECKING:
    from rankready.model.command import Reply

_RULE = re.compile(r"\+[-=+]+\+")
_TITLE = re.compile(r"npu-smi (\S+)\s+Version: (\S+)", re.ASCII)
_BUS = re.compile(r"[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]", re.ASCII)
_IDLE = re.compile(r"No running processes found in NPU (\d{1,3})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][\w-]*(?: [\w-]+)?", re.ASCII)
_HEALTHS = ("OK", "Warning", "Alarm", "Critical", "UNKNOWN", "Offline")
_FIRST_HEAD = 2  # two head rows above the devices
_USAGE = re.compile(r"\d+\s+\d+\s*/\s*\d+\s+\d+\s*/\s*\d+", re.ASCII)
_STATE = re.compile(r"(?:-|NA|\d+(?:\.\d+)?)\s+(?:-|NA|-?\d+)\s+\d+\s*/\s*\d+", re.ASCII)


def read_info(reply: Reply) -> Chips | Gap:
    """Read `npu-smi info`: devices in the table's order, processes by NPU, chip and pid."""
    said = payload(reply)
    if isinstance(said, Gap):
        return said
    if any(not _RULE.fullmatch(line) and not _is_row(line) for line in said):
        return unexpected(next(line for line in said if not _RULE.fullmatch(line) and not _is_row(line)))
    rows = [_cells(line) for line in said if _is_row(line)]
    title = _TITLE.fullmatch(rows[0][0]) if rows and len(rows[0]) == 1 else None
    second = next(
        (n for n, row in enumerate(rows) if row[0].startswith("NPU") and {"Process id", "Process name"} <= set(row)), 0
    )
    if title is None or not second or not _RULE.fullmatch(said[-1]) or rows[1][0][:3] != "NPU":
        return unexpected(said)
    chips = _chips(rows[1], rows[2], rows[1 + _FIRST_HEAD : second])
    if isinstance(chips, Gap):
        return chips
    processes = _processes(rows[second], rows[second + 1 :], chips)
    if isinstance(processes, Gap):
        return processes
    return Chips(chips=chips, driver=title[2], processes=processes)


def _is_row(line: str) -> bool:
    return line.startswith("|") and line.rstrip().endswith("|") and len(line.strip()) > 1


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip()[1:-1].split("|"))


def _chips(head: tuple[str, ...], subhead: tuple[str, ...], rows: list[tuple[str, ...]]) -> tuple[Chip, ...] | Gap:
    """Join two rows to one device. The heads tell the layout: a Phy-ID beside the chip (A3), or no chip (A5)."""
    if len(rows) % 2 or not rows:
        return Gap("a device of the table lacks one of its two rows", zh="表中有设备缺少其两行之一")
    own_column = head[0] == "NPU ID"
    physical = "Phy-ID" in subhead[0]
    found = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        chip = _bare(upper, lower) if own_column else _chip(upper, lower, physical=physical)
        if chip is None:
            return unexpected(" | ".join((*upper, *lower)))
        found.append(chip)
    return _consistent(tuple(found))


def _chip(upper: tuple[str, ...], lower: tuple[str, ...], *, physical: bool) -> Chip | None:
    if len(upper) != 3 or len(lower) != 3:  # noqa: PLR2004  (three columns up to A3)
        return None
    npu, _, name = upper[0].partition(" ")
    ids = lower[0].split()
    numbers = [npu, *ids]
    if len(ids) != 1 + physical or not all(_is_id(n) for n in numbers) or not _sound(name.strip(), upper, lower):
        return None
    return Chip(
        npu=int(npu),
        chip=int(ids[0]),
        name=name.strip(),
        health=upper[1],
        physical=int(ids[1]) if physical else None,
        bus=lower[1],
    )


def _bare(upper: tuple[str, ...], lower: tuple[str, ...]) -> Chip | None:
    """Read an A5 device: its NPU ID in a column of its own, no chip."""
    if len(upper) != 4 or len(lower) != 4 or lower[0] or lower[1]:  # noqa: PLR2004  (four columns on A5)
        return None
    if not _is_id(upper[0]) or not _sound(upper[1], upper[1:], lower[1:]):
        return None
    return Chip(npu=int(upper[0]), chip=0, name=upper[1], health=upper[2], bus=lower[2])


def _sound(name: str, upper: tuple[str, ...], lower: tuple[str, ...]) -> bool:
    return (
        _NAME.fullmatch(name) is not None
        and upper[1] in _HEALTHS
        and _BUS.fullmatch(lower[1]) is not None
        and _STATE.fullmatch(upper[2]) is not None
        and _USAGE.fullmatch(lower[2]) is not None
    )


def _is_id(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) <= 3  # noqa: PLR2004  (ids of one server)


def _consistent(chips: tuple[Chip, ...]) -> tuple[Chip, ...] | Gap:
    """Refuse a table in which a device stands twice or a die of an NPU is missing."""
    keys = [(c.npu, c.chip) for c in chips]
    buses, physical = {c.bus for c in chips}, [c.physical for c in chips if c.physical is not None]
    if len(set(keys)) != len(keys) or len(buses) != len(keys) or len(set(physical)) != len(physical):
        return Gap("a device stands twice in the table", zh="表中有设备重复")
    if keys != sorted(keys):
        return Gap("devices are out of order in the table", zh="表中设备乱序")
    for npu in dict.fromkeys(c.npu for c in chips):
        dies = [c.chip for c in chips if c.npu == npu]
        if dies != list(range(len(dies))):
            return Gap(f"a chip of NPU {npu} is missing in the table", zh=f"表中缺少 NPU {npu} 的一个芯片")
    return chips


def _processes(
    head: tuple[str, ...], rows: list[tuple[str, ...]], chips: tuple[Chip, ...]
) -> tuple[tuple[int, int, int, str], ...] | Gap:
    known = {(c.npu, c.chip) for c in chips}
    idle: list[int] = []
    found: list[tuple[int, int, int, str]] = []
    for row in rows:
        match = _IDLE.fullmatch(row[0]) if len(row) == 1 else None
        process = _process(row, head) if match is None else None
        if match is not None:
            idle.append(int(match[1]))
        elif process is not None and process[:2] in known:
            found.append(process)
        else:
            return unexpected(" | ".join(row))
    told = [*idle, *dict.fromkeys(p[0] for p in found)]
    if len(set(told)) != len(told) or set(told) != {npu for npu, _ in known} or len(set(found)) != len(found):
        return Gap("the table of processes does not name every NPU once", zh="进程表未将每个 NPU 各列一次")
    return tuple(sorted(found))


def _process(row: tuple[str, ...], head: tuple[str, ...]) -> tuple[int, int, int, str] | None:
    """Read (npu, chip, pid, name); the head tells the columns, for a docker on A3 has one more between them."""
    ids = row[0].split()
    if len(row) != len(head) or len(ids) not in (1, 2) or not all(_is_id(i) for i in ids):
        return None
    pid, name = row[head.index("Process id")], row[head.index("Process name")]
    numbers = [cell for title, cell in zip(head, row, strict=True) if title not in (head[0], "Process name")]
    if not name or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    return int(ids[0]), int(ids[1]) if len(ids) > 1 else 0, int(pid), name
