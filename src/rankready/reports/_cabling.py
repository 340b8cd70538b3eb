"""The map of cables: which device hangs on which port, what is wrong there, and what to move."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankready.model.finding import Outcome
from rankready.model.hostlist import fold
from rankready.model.place import PlaceKind
from rankready.model.text import Lang, Text
from rankready.reports import _words as words
from rankready.reports._escape import escape
from rankready.reports._sections import Section
from rankready.reports._width import clip, hang

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankready.model.plain import Json
    from rankready.model.record import Record

MOST_ROWS = 2000  # a browser's patience
_FAMILY = "CAB"
_SHOWN = (Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN)
_NAME = 64  # of a switch or a port
_FEW = 8  # lines of a map that need no folding

_HEAD = Text(en="{leaf}  {n:,} devices on {m:,} ports", zh="{leaf}  {n:,} 个设备接在 {m:,} 个端口")
_WELL = Text(
    en="{leaf}  {n:,} devices on {m:,} ports, nothing wrong", zh="{leaf}  {n:,} 个设备接在 {m:,} 个端口，无异常"
)
_FIBRES = Text(en="fibres  {n:,}", zh="直连光纤  {n:,} 根")
_FIBRES_WELL = Text(en="fibres  {n:,}, nothing wrong", zh="直连光纤  {n:,} 根，无异常")
_SILENT = Text(en="nothing heard  ", zh="没有邻居  ")
_MOVES = Text(en="to mend it, move {n:,} cables, each once:", zh="修复需移动 {n:,} 根线缆，每根一次：")
_ONE_MOVE = Text(en="to mend it, move 1 cable:", zh="修复需移动 1 根线缆：")
_RING = Text(en="{n} change places: pull out {first}'s first", zh="{n} 根互换位置：先拔出 {first} 的线缆")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One device: where its cable ends (``leaf`` empty: on a device, both empty: nowhere), and the codes there."""

    device: str
    leaf: str = ""
    port: str = ""
    peer: str = ""
    reason: str = ""
    pvid: object = None
    codes: tuple[str, ...] = ()


def rows(record: Record, extra: Mapping[str, Json]) -> list[Row]:
    """Return the map that a record keeps, with what was found at each device."""
    wrong: dict[str, list[str]] = {}
    for verdict in record.verdicts:
        if verdict.outcome in _SHOWN and verdict.code.startswith(_FAMILY) and verdict.place.kind is PlaceKind.DEVICE:
            wrong.setdefault(str(verdict.place), []).append(verdict.code)
    found = extra.get("neighbours")
    return [_row(item, wrong) for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _row(item: Mapping[str, Json], wrong: Mapping[str, Sequence[str]]) -> Row:
    device = str(item.get("device", ""))
    codes = tuple(wrong.get(device, ()))
    if not item.get("neighbour"):
        return Row(device=device, reason=str(item.get("reason", "")), codes=codes)
    peer = str(item.get("peer") or "")
    leaf, port = ("", "") if peer else (str(item["neighbour"]), str(item.get("port", "")))
    return Row(device=device, leaf=leaf, port=port, peer=peer, pvid=item.get("pvid"), codes=codes)


def sections(record: Record, extra: Mapping[str, Json], lang: Lang, width: int) -> list[Section]:
    """Return what to move, and the map: whole where it is short, else what is wrong and the rest in a line a kind."""
    found = rows(record, extra)
    lines = picture(found, lang)
    if len(lines) > _FEW:
        lines = list(_folded(found, lang))
    return [
        Section(items=tuple(tuple(hang(*line, width)) for line in move_lines(extra, lang))),
        Section(items=tuple((clip(f" {line}", width),) for line in lines)),
    ]


def picture(found: Sequence[Row], lang: Lang) -> list[str]:
    """Draw the whole map: per leaf its ports and who stands there; then fibres, then who heard nothing.

    Runs of ports that go with runs of devices share a line, so that a thousand servers stay readable.
    """
    lines: list[str] = []
    for leaf, mine in _leaves(found).items():
        ports = {r.port for r in mine}
        lines.append(_HEAD.to(lang).format(leaf=_shown(leaf), n=len(mine), m=len(ports)))
        lines += [f"  {line}" for line in _runs(mine)]
    fibres = _fibres(found)
    if fibres:
        lines.append(_FIBRES.to(lang).format(n=len(fibres)))
        lines += [f"  {line}" for line in _runs(fibres)]
    return lines + _silent(found, lang)


def _folded(found: Sequence[Row], lang: Lang) -> Iterator[str]:
    leaves = _leaves(found)
    well = {leaf: mine for leaf, mine in leaves.items() if not any(r.codes for r in mine)}
    for leaf, mine in leaves.items():
        if leaf in well:
            continue
        yield _HEAD.to(lang).format(leaf=_shown(leaf), n=len(mine), m=len({r.port for r in mine}))
        yield from (f"  {line}" for line in _runs([r for r in mine if r.codes]))
    if well:
        names = ", ".join(fold(_shown(leaf) for leaf in well))
        ports = sum(len({r.port for r in mine}) for mine in well.values())
        yield _WELL.to(lang).format(leaf=names, n=sum(map(len, well.values())), m=ports)
    fibres = _fibres(found)
    if fibres:
        bad = [r for r in fibres if r.codes]
        yield (_FIBRES if bad else _FIBRES_WELL).to(lang).format(n=len(fibres))
        yield from (f"  {line}" for line in _runs(bad))
    yield from _silent(found, lang)


def _leaves(found: Iterable[Row]) -> dict[str, list[Row]]:
    leaves: dict[str, list[Row]] = {}
    for row in found:
        if row.leaf:
            leaves.setdefault(row.leaf, []).append(row)
    return {leaf: sorted(leaves[leaf], key=lambda r: _natural(r.port)) for leaf in sorted(leaves, key=_natural)}


def _fibres(found: Iterable[Row]) -> list[Row]:
    """Return each fibre once, at the end that comes first; what one end alone tells is shown too."""
    seen: set[frozenset[str]] = set()
    kept = []
    for row in found:
        ends = frozenset((row.device, row.peer))
        if row.peer and ends not in seen:
            seen.add(ends)
            kept.append(replace(row, port=row.peer))
    return kept


def _silent(found: Iterable[Row], lang: Lang) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for row in found:
        if not row.leaf and not row.peer:
            reasons.setdefault(row.reason, []).append(row.device)
    return [f"{_SILENT.to(lang)}{', '.join(fold(d))}: {escape(reason)}" for reason, d in reasons.items()]


def _runs(found: Sequence[Row]) -> list[str]:
    """Fold neighbouring ports while devices, or servers, go on in step; then servers that look the same."""
    shared = Counter(r.port for r in found)
    runs: list[list[Row]] = []
    for row in found:
        if runs and _goes_on(runs[-1], row) and shared[row.port] == 1:
            runs[-1].append(row)
        else:
            runs.append([row])
    blocks: list[list[list[Row]]] = []
    for run in runs:
        if blocks and _repeats(blocks[-1], run):
            blocks[-1].append(run)
        else:
            blocks.append([run])
    lines = [(_span(block), block) for block in blocks]
    wide = max((len(span) for span, _ in lines), default=0)
    return [f"{_joined(span, wide, block)}{_marks(block[0], shared)}" for span, block in lines]


def _joined(span: str, wide: int, block: Sequence[Sequence[Row]]) -> str:
    """A port stands before its device; of a fibre the first end stands first."""
    return f"{_devices(block)} - {span}" if block[0][0].peer else f"{span:{wide}}  {_devices(block)}"


def _goes_on(run: Sequence[Row], row: Row) -> bool:
    """Tell whether a row is the next of its run: the port one on, and the device or the server one on, as before."""
    step = _step(run[-1], row)
    return step is not None and (len(run) == 1 or step == _step(run[-2], run[-1]))


def _step(before: Row, row: Row) -> str | None:
    if before.codes != row.codes:
        return None
    (name, n), (other, m) = _number(before.port), _number(row.port)
    (server, _, d), (also, _, e) = before.device.partition("/"), row.device.partition("/")
    (rack, s), (same, t) = _tail(server), _tail(also)
    if name != other or m != n + 1 or not (d.isdecimal() and e.isdecimal()):
        return None
    if server == also and int(e) == int(d) + 1:
        return "device"
    return "server" if rack == same and t == s + 1 and d == e else None


def _repeats(block: Sequence[Sequence[Row]], run: Sequence[Row]) -> bool:
    """Tell whether the next server's run looks like those before: same positions, ports as far on as ever."""
    last = block[-1]
    (server, _, first), (also, _, other) = last[0].device.partition("/"), run[0].device.partition("/")
    (rack, s), (same, t) = _tail(server), _tail(also)
    if (rack, s + 1, first, len(last), last[0].codes) != (same, t, other, len(run), run[0].codes) or len(run) == 1:
        return False
    stride = _stride(last, run)
    return stride is not None and (len(block) == 1 or stride == _stride(block[-2], last))


def _stride(before: Sequence[Row], run: Sequence[Row]) -> int | None:
    (name, n), (other, m) = _number(before[0].port), _number(run[0].port)
    return m - n if name == other and m > n else None


def _span(block: Sequence[Sequence[Row]]) -> str:
    first, last = _shown(block[0][0].port), _shown(block[-1][-1].port)
    gap = any(_number(run[-1].port)[1] + 1 != _number(after[0].port)[1] for run, after in itertools.pairwise(block))
    return first if first == last else f"{first}{'…' if gap else '-'}{last[len(_number(last)[0]) :]}"


def _devices(block: Sequence[Sequence[Row]]) -> str:
    return ", ".join(fold(r.device for run in block for r in run))


def _marks(run: Sequence[Row], shared: Mapping[str, int]) -> str:
    count = shared[run[0].port]
    both = [f"×{count}"] if count > 1 else []
    marks = " ".join((*both, *run[0].codes))
    return f"   <- {marks}" if marks else ""


def move_lines(extra: Mapping[str, Json], lang: Lang) -> Iterator[tuple[str, str]]:
    """Yield head and text of each line: the moves in their order, a ring with what to pull out first."""
    found = extra.get("moves")
    moves = [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []
    if not moves:
        return
    yield " ", (_ONE_MOVE if len(moves) == 1 else _MOVES).to(lang).format(n=len(moves))
    ring: object = None
    for number, move in enumerate(moves, start=1):
        if move.get("ring") and move["ring"] != ring:
            ring = move["ring"]
            mine = [m for m in moves if m.get("ring") == ring]
            first = escape(str(mine[-1].get("device", "")))
            yield "   ", _RING.to(lang).format(n=len(mine), first=first)
        yield f"  {number:2}. ", words.either(move.get("do"), lang)


def table(record: Record, extra: Mapping[str, Json]) -> dict[str, Any]:
    """Return the map as rows of a table, wrong ones first, and the moves, for the page."""
    found = rows(record, extra)
    order = sorted(found, key=lambda r: (not r.codes, not (r.leaf or r.peer), _natural(r.leaf), _natural(r.port)))
    moves = extra.get("moves")
    return {
        "cables": [
            {
                "leaf": r.leaf,
                "port": r.port or r.peer,
                "device": r.device,
                "pvid": "" if r.pvid is None else str(r.pvid),
                "codes": " ".join(r.codes),
                "reason": r.reason,
            }
            for r in order[:MOST_ROWS]
        ],
        "cables_left": max(0, len(found) - MOST_ROWS),
        "cables_wrong": sum(bool(r.codes) for r in found),
        "moves": [
            Text(en=words.either(m.get("do"), Lang.EN), zh=words.either(m.get("do"), Lang.ZH))
            for m in (moves if isinstance(moves, list) else [])
            if isinstance(m, dict)
        ],
    }


def _number(port: str) -> tuple[str, int]:
    """Split a port's own number off; the halves of a 400G port count on (facts/hccn 9)."""
    whole, _, part = port.rpartition(":")
    name, number = _tail(whole)
    if part in ("1", "2") and number >= 0:
        return name, number * 2 + int(part)
    return _tail(port)


def _tail(text: str) -> tuple[str, int]:
    """Split a trailing number off; -1 where there is none."""
    digits = len(text) - len(text.rstrip("0123456789"))
    return (text[:-digits], int(text[-digits:])) if 0 < digits <= _LONGEST else (text, -1)


_LONGEST = 9  # a longer number is a serial number


def _natural(text: str) -> tuple[tuple[int, str], ...]:
    """Order numbers in names by their value: port 10 comes after port 9."""
    return tuple(
        (int(part), "") if part.isdecimal() and part.isascii() and len(part) <= _LONGEST else (-1, part)
        for part in re.split(r"([0-9]+)", text)
    )


def _shown(text: str) -> str:
    """Return a switch's words fit for a terminal: visible, bounded."""
    return escape(text[:_NAME])
