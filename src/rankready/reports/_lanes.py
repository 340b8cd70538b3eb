"""A job's ranks in time, as lanes of a drawing: from its start to its end, with its first sign; many fold by server."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankready.model.hostlist import number_runs
from rankready.model.text import Lang, Text
from rankready.reports import _words as words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankready.model.plain import Json

MOST_SINGLE = 64  # ranks that have a lane each; of more, each server has one
MOST_LANES = 600
LEFT, WIDTH, RIGHT = 210.0, 640.0, 60.0
ROW, TOP = 16.0, 30.0
LABEL = 30  # characters


@dataclass(frozen=True, slots=True)
class Row:
    """One rank: moments as seconds, None where not known."""

    rank: int
    server: str
    started: float | None
    sign: float | None
    ended: float | None
    cause: bool
    what: Text
    end: Text


def drawing(extra: Mapping[str, Json]) -> dict[str, Any]:
    """Return what the page draws: lanes, moments, sizes; ``lanes`` is empty where nothing has a moment."""
    rows = [_row(r) for r in _objects(extra.get("timeline"))]
    cause = extra.get("cause")
    fault = _moment(cause.get("time")) if isinstance(cause, dict) else None
    known = [t for r in rows for t in (r.started, r.sign, r.ended) if t is not None]
    known += [fault] if fault is not None and known else []
    if not known:
        return {"lanes": [], "rows": [], "lanes_left": 0}
    begin, span = min(known), max(max(known) - min(known), 1.0)
    folded = _folded(rows)
    lanes = [_lane(n, group, begin, span) for n, group in enumerate(folded[:MOST_LANES])]
    height = TOP + ROW * len(lanes) + 8.0
    moments = [("start", begin), ("end", begin + span)]
    marks = [{"x": _x(t, begin, span), "text": _clock(t), "class": name} for name, t in moments]
    if fault is not None:
        marks.append({"x": _x(fault, begin, span), "text": _clock(fault), "class": "fault"})
    return {
        "lanes": lanes,
        "lanes_left": max(0, len(folded) - MOST_LANES),
        "marks": marks,
        "width": LEFT + WIDTH + RIGHT,
        "height": height,
        "rows": [_told(group) for group in _alike(rows)[:MOST_LANES]],
    }


def _folded(rows: Sequence[Row]) -> list[list[Row]]:
    """Who is to blame first, then in the order of first signs; too many ranks share a lane with their server's."""
    single, few = len(rows) <= MOST_SINGLE, sum(r.cause for r in rows) <= MOST_SINGLE
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        alone = single or (row.cause and few)
        groups.setdefault((row.server, row.rank) if alone else (row.server,), []).append(row)
    return _in_order(groups.values())


def _alike(rows: Sequence[Row]) -> list[list[Row]]:
    """Ranks of one server that spoke and ended alike."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.server, row.what, row.end, row.cause), []).append(row)
    return _in_order(groups.values())


def _in_order(groups: Iterable[list[Row]]) -> list[list[Row]]:
    return sorted(groups, key=lambda g: (not g[0].cause, _least(r.sign for r in g) or float("inf"), g[0].rank))


def _lane(number: int, group: Sequence[Row], begin: float, span: float) -> dict[str, Any]:
    started, sign = _least(r.started for r in group), _least(r.sign for r in group)
    ended = max((r.ended for r in group if r.ended is not None), default=None)
    x1 = _x(started if started is not None else begin, begin, span)
    x2 = _x(ended if ended is not None else begin + span, begin, span)
    label = f"{group[0].server} · rank {number_runs((r.rank for r in group), ',')}"
    return {
        "y": TOP + ROW * number,
        "label": label if len(label) <= LABEL else label[: LABEL - 1] + "…",
        "whole": label,
        "x1": x1,
        "x2": max(x2, x1 + 1.0),
        "sign": None if sign is None else _x(sign, begin, span),
        "ended": ended is not None,
        "class": "cause" if group[0].cause else "rank",
    }


def _told(group: Sequence[Row]) -> dict[str, Any]:
    first = group[0]
    sign, ended = _least(r.sign for r in group), _least(r.ended for r in group)
    return {
        "ranks": number_runs((r.rank for r in group), ","),
        "server": first.server,
        "sign": _clock(sign),
        "what": first.what,
        "ended": _clock(ended),
        "end": first.end,
        "cause": first.cause,
    }


def _row(told: Mapping[str, Json]) -> Row:
    rank = told.get("rank")
    return Row(
        rank=rank if isinstance(rank, int) else -1,
        server=str(told.get("server")),
        started=_moment(told.get("started")),
        sign=_moment(told.get("first_sign")),
        ended=_moment(told.get("ended")),
        cause=told.get("cause") is True,
        what=Text(*(words.either(told.get("sign"), lang) for lang in Lang)),
        end=_end(told),
    )


def _end(told: Mapping[str, Json]) -> Text:
    if told.get("stopped"):
        return Text(en="stopped", zh="被停止")
    if isinstance(number := told.get("signal"), int):
        return Text(en=f"signal {number}", zh=f"信号 {number}")
    if isinstance(number := told.get("exit"), int):
        return Text(en=f"exit {number}", zh=f"退出码 {number}")
    return Text(en="", zh="")


def _moment(text: object) -> float | None:
    """Read a moment of a record (ISO, no zone) as seconds."""
    try:
        return dt.datetime.fromisoformat(str(text)).replace(tzinfo=dt.UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def _clock(seconds: float | None) -> str:
    return "" if seconds is None else f"{dt.datetime.fromtimestamp(seconds, tz=dt.UTC):%H:%M:%S}"


def _least(moments: Iterable[float | None]) -> float | None:
    return min((t for t in moments if t is not None), default=None)


def _x(moment: float, begin: float, span: float) -> float:
    return round(LEFT + WIDTH * (moment - begin) / span, 1)


def _objects(value: Json) -> list[dict[str, Json]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []
