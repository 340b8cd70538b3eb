"""The first fault of a job on one screen: the cause and its evidence, the ranks in time, who only waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankready.model.hostlist import fold, number_runs
from rankready.model.text import Text
from rankready.reports import _words as words
from rankready.reports._escape import escape
from rankready.reports._sections import Section
from rankready.reports._width import clip, columns, hang

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.plain import Json
    from rankready.model.text import Lang

_EVIDENCE = 3
_ROWS = 8
_CERTAINTY = {
    "sure": Text(en="sure", zh="确定"),
    "likely": Text(en="likely", zh="很可能"),
    "maybe": Text(en="maybe", zh="可能"),
}
_CONFIRM = Text(en="to confirm: ", zh="确认：")
_HEADINGS = {
    "cause": Text(en="first fault: ", zh="根因："),
    "suspect": Text(en="suspected: ", zh="疑似："),
    "unknown": Text(en="no root cause found; suspected: ", zh="未能确定根因；可疑："),
    "nothing": Text(en="no root cause found", zh="未能确定根因"),
}


def sections(extra: Mapping[str, Json], lang: Lang, width: int) -> tuple[Section, ...]:
    """Return cause or suspects, then the ranks in time, then who only waited."""
    return _cause(extra, lang, width), _timeline(extra, lang, width), _waited(extra, lang, width)


def _cause(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    outcome = str(extra.get("outcome"))
    cause = _object(extra.get("cause"))
    if outcome == "none":
        return Section(items=())
    items: list[tuple[str, ...]] = []
    if cause:
        title = words.either(cause.get("title"), lang)
        items.append(tuple(hang(f" {_HEADINGS.get(outcome, _HEADINGS['cause']).to(lang)}", title, width, 4)))
        items.append((clip(f"   {_about(cause, lang)}", width),))
    else:
        items += _suspects(extra, lang, width)
    for piece in _objects(extra.get("evidence"))[:_EVIDENCE]:
        items.append((clip(f"   {_place(piece)}  {words.either(piece.get('text'), lang)}", width),))
    if told := _confirmation(extra, lang):
        items.append(tuple(hang("   ", told, width)))
    if extra.get("remedy"):
        items.append(tuple(hang(f"   {words.NEXT.to(lang)}", words.either(extra["remedy"], lang), width)))
    return Section(items=tuple(items))


def _confirmation(extra: Mapping[str, Json], lang: Lang) -> str:
    """What the cluster itself says of the fault now; where nobody asked it, the command that does."""
    seen = _object(extra.get("confirmation"))
    if seen:
        return words.either(seen.get("text"), lang)
    command = escape(str(extra.get("confirm") or ""))
    return f"{_CONFIRM.to(lang)}{command}" if command else ""


def _about(cause: Mapping[str, Json], lang: Lang) -> str:
    certainty = _CERTAINTY.get(str(cause.get("certainty")))
    codes = " ".join(escape(str(c)) for c in _list(cause.get("codes")) if c)
    told = (
        words.either(cause.get("time"), lang),
        certainty.to(lang) if certainty else "",
        codes,
        f"{escape(str(cause.get('code', '')))} {escape(str(cause.get('sign') or cause.get('kind', '')))}".strip(),
    )
    return "   ".join(t for t in told if t)


def _suspects(extra: Mapping[str, Json], lang: Lang, width: int) -> list[tuple[str, ...]]:
    found = _objects(extra.get("suspects"))
    if not found:
        return [(clip(f" {_HEADINGS['nothing'].to(lang)}", width),)]
    items = []
    for suspect in found[:2]:
        places = ", ".join(fold(escape(str(p)) for p in _list(suspect.get("places"))))
        text = f"{places}: {words.either(suspect.get('reason'), lang)}"
        items.append(tuple(hang(f" {_HEADINGS['unknown'].to(lang)}", text, width, 3)))
    return items


def _place(piece: Mapping[str, Json]) -> str:
    """Host and file are enough on a screen; the JSON has the whole path."""
    parts = escape(str(piece.get("file", ""))).split("/")
    short = parts[-1] if len(parts) < 2 else f"{parts[0]}/…/{parts[-1]}" if len(parts) > 2 else "/".join(parts)  # noqa: PLR2004  (host and file)
    return f"{short}:{piece.get('line', '')}"


def _timeline(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Ranks of one server that ended alike share a row; those to blame come first, then by their first sign."""
    grouped: dict[tuple[str, ...], list[dict[str, Json]]] = {}
    for row in _objects(extra.get("timeline")):
        key = (
            str(row.get("server")),
            words.either(row.get("sign"), lang),
            _end(row, lang),
            str(bool(row.get("cause"))),
        )
        grouped.setdefault(key, []).append(row)
    if extra.get("outcome") == "none":
        return Section(items=())
    order = sorted(grouped.items(), key=lambda item: (item[0][3] != "True", _first(item[1], "first_sign") or "~"))
    rows = [_row(key, group) for key, group in order]
    lines = [(line,) for line in columns(rows[:_ROWS], width)]
    return Section(items=tuple(lines), left=max(0, len(rows) - _ROWS))


def _row(key: tuple[str, ...], group: list[dict[str, Json]]) -> tuple[str, ...]:
    server, sign, end, cause = key
    mark = ">" if cause == "True" else " "
    ranks = number_runs([r for row in group if isinstance(r := row.get("rank"), int)], ",")
    moment = _first(group, "first_sign") or _first(group, "ended") or ""
    return (f" {mark} rank {ranks}", escape(server), moment[11:19], end, sign)


def _end(row: Mapping[str, Json], lang: Lang) -> str:
    if row.get("stopped"):
        return Text(en="stopped", zh="被停止").to(lang)
    if row.get("signal") is not None:
        return Text(en="signal {n}", zh="信号 {n}").to(lang).format(n=row["signal"])
    if row.get("exit") is not None:
        return Text(en="exit {n}", zh="退出码 {n}").to(lang).format(n=row["exit"])
    return ""


def _first(rows: list[dict[str, Json]], key: str) -> str | None:
    return min((str(row[key]) for row in rows if row.get(key)), default=None)


def _waited(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    found = _objects(extra.get("waited"))
    if not found or extra.get("outcome") == "unknown":
        return Section(items=())
    ranks = number_runs([r for row in found if isinstance(r := row.get("rank"), int)], ",")
    delays = [d for row in found if isinstance(d := row.get("after_s"), int | float)]
    after = ""
    if delays and max(delays) >= 1:
        after = Text(en=f", up to {max(delays):.0f} s later", zh=f"，最晚晚 {max(delays):.0f} 秒").to(lang)
    text = Text(en=f" only waited: rank {ranks}{after}", zh=f" 仅为等待方：rank {ranks}{after}").to(lang)
    return Section(items=((clip(text, width),),))


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _objects(value: Json) -> list[dict[str, Json]]:
    return [v for v in _list(value) if isinstance(v, dict)]
