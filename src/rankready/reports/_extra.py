"""What verbs keep in their own parts of a record, as sections of the text page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rankready.model.hostlist import fold
from rankready.model.text import Lang, Text
from rankready.reports import _words as words
from rankready.reports._escape import escape
from rankready.reports._sections import Section
from rankready.reports._width import clip, hang

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankready.model.plain import Json

_SUSPECTS = 3
_EVIDENCE = 3
_TAIL = 5


def coverage(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return the coverage line: never a percentage without its denominator."""
    found = _object(extra.get("coverage"))
    proven, planned = found.get("proven"), found.get("planned")
    if not isinstance(proven, int) or not isinstance(planned, int):
        return Section(items=())
    if planned <= 0:
        return Section(items=((clip(words.NOTHING_PLANNED.to(lang), width),),))
    line = words.COVERED.to(lang).format(proven=proven, planned=planned, share=words.share(proven, planned))
    if isinstance(rounds := found.get("rounds"), int):
        line += words.ROUNDS.to(lang).format(n=rounds)
    if found.get("bound") is not None:
        line += words.BOUND.to(lang).format(n=words.either(found["bound"], lang))
    return Section(items=((clip(line, width),),))


def suspects(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return who may be to blame, and what would tell."""
    items = []
    for suspect in _objects(extra.get("suspects")):
        places = ", ".join(fold(escape(str(p)) for p in _list(suspect.get("places"))))
        about = [words.either(suspect.get(key), lang) for key in ("kind", "certainty")]
        if isinstance(suspect.get("witnesses"), (int, str)):
            about.append(words.WITNESSES.to(lang).format(n=words.either(suspect["witnesses"], lang)))
        head = f" {words.SUSPECT.to(lang)}  "
        lines = hang(head, f"{places}: {', '.join(a for a in about if a)}", width)
        if suspect.get("next_test"):
            lines += hang(" " * 7 + words.NEXT.to(lang), words.either(suspect["next_test"], lang), width)
        items.append(tuple(lines))
    return _capped(items, _SUSPECTS)


def suspect_rows(extra: Mapping[str, Json]) -> list[dict[str, object]]:
    """Return suspects as rows of a table."""
    return [
        {
            "places": ", ".join(fold(str(p) for p in _list(s.get("places")))),
            "kind": words.either(s.get("kind"), Lang.EN),
            "certainty": words.either(s.get("certainty"), Lang.EN),
            "witnesses": words.either(s.get("witnesses"), Lang.EN),
            "next_test": Text(words.either(s.get("next_test"), Lang.EN), words.either(s.get("next_test"), Lang.ZH)),
        }
        for s in _objects(extra.get("suspects"))
    ]


def cause(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return the first fault and its evidence, as `why` tells it."""
    found = _object(extra.get("cause"))
    if not found:
        return Section(items=())
    title = words.either(found.get("title"), lang) or words.either(found.get("kind"), lang)
    where = _where(found, lang)
    items = [tuple(hang(" ", f"{title}{where}", width, 3))]
    told = [words.either(found.get(key), lang) for key in ("time", "certainty")]
    codes = " ".join(escape(str(c)) for c in _list(found.get("codes")))
    told_line = "  ".join(t for t in (*told, codes) if t)
    if told_line:
        items.append((clip(f"   {told_line}", width),))
    for piece in _objects(extra.get("evidence"))[:_EVIDENCE]:
        place = f"{escape(str(piece.get('file', '')))}:{piece.get('line', '')}"
        items.append((clip(f"   {place}  {words.either(piece.get('text'), lang)}", width),))
    return _capped(items, 2 + _EVIDENCE)


def _where(found: Mapping[str, Json], lang: Lang) -> str:
    server, rank = Text(en="server", zh="服务器"), Text(en="rank", zh="rank")
    device = Text(en="device", zh="设备")
    parts = []
    for key, word in (("servers", server), ("ranks", rank), ("devices", device)):
        values = [escape(str(v)) for v in _list(found.get(key))]
        if values:
            parts.append(f"{word.to(lang)} {_listed(values)}")
    return f" ({', '.join(parts)})" if parts else ""


def ranks(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return how a job's ranks ended, which failed first, and its last words."""
    items: list[tuple[str, ...]] = []
    first = _object(extra.get("first_failure"))
    if first:
        head = Text(en=" first to fail: ", zh=" 最先失败：").to(lang)
        how = words.either(first.get("how"), lang) or _ending(first)
        what = f"rank {first.get('rank')}, {escape(str(first.get('server', '')))}"
        items.append(tuple(hang(head, f"{what}{': ' if how else ''}{how}", width)))
    over = extra.get("phase") in (None, "ended")
    counted = Counter(_ending(r) for r in _objects(extra.get("ranks")) if over or _known(r))
    if counted:
        told = ", ".join(f"{n} × {how}" for how, n in counted.most_common(4))
        line = Text(en=" ranks: {told}", zh=" rank 结束情况：{told}").to(lang).format(told=told)
        about = [words.either(extra.get(key), lang) for key in ("job", "cause") if isinstance(extra.get(key), str)]
        items.append((clip("   ".join((line, *about)), width),))
    tail = [words.either(t, lang) for t in _list(first.get("tail"))]
    items += [(clip(f"   | {line}", width),) for line in tail[-_TAIL:]]
    return Section(items=tuple(items))


def trouble(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return servers on which a change, a copy or a restore went wrong, with the reason."""
    rows: dict[str, list[str]] = {}
    for key in ("not_accepted", "not_restored", "held", "still_held"):
        for server, reasons in _object(extra.get(key)).items():
            told = "; ".join(words.either(r, lang) for r in _list(reasons)) or words.either(reasons, lang)
            rows.setdefault(told, []).append(escape(server))
    for failed in (f for key in ("failed", "gaps", "not_asked") for f in _objects(extra.get(key))):
        where = escape(str(failed.get("server", failed.get("place", ""))))
        told = ": ".join(t for t in (words.either(failed.get(k), lang) for k in ("what", "reason")) if t)
        rows.setdefault(told, []).append(where)
    mark = words.FAILED.to(lang)
    return _capped([tuple(hang(f" {mark}  ", f"{_listed(who)}: {why}", width)) for why, who in rows.items()], 5)


def notes(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return the verb's own remarks (``notes``: statements in either form) and what was not looked at."""
    items = [tuple(hang(" ", words.either(n, lang), width)) for n in _list(extra.get("notes"))]
    not_checked = [words.either(n, lang) for n in _list(extra.get("not_checked"))]
    if not_checked:
        head = Text(en=" not looked at: ", zh=" 未查看：").to(lang)
        items.append(tuple(hang(head, ", ".join(not_checked), width)))
    return _capped(items, 6)


def _known(rank: Mapping[str, Json]) -> bool:
    return rank.get("signal") is not None or rank.get("exit") is not None


def rank_rows(extra: Mapping[str, Json]) -> list[dict[str, str]]:
    """Return every rank as a row of a table: rank, server, local_rank, how it ended, and what that means."""
    return [
        {
            "rank": words.either(r.get("rank"), Lang.EN),
            "server": words.either(r.get("server"), Lang.EN),
            "local_rank": words.either(r.get("local_rank"), Lang.EN),
            "ending": _ending(r),
            "outcome": _meaning(r),
        }
        for r in _objects(extra.get("ranks"))
    ]


def _meaning(rank: Mapping[str, Json]) -> str:
    if not _known(rank):
        return "unknown"
    return "pass" if rank.get("exit") == 0 and rank.get("signal") is None else "fail"


def goes_on(extra: Mapping[str, Json], lang: Lang, width: int) -> Section:
    """Return what to do after a stop, where the verb says it."""
    told = words.either(extra.get("next"), lang)
    return Section(items=(tuple(hang(f" {words.NEXT.to(lang)}", told, width, 3)),) if told else ())


def logins(extra: Mapping[str, Json]) -> dict[str, str]:
    """Return server → the line that logs in there, for servers that did not answer."""
    return {server: str(line) for server, line in _object(extra.get("logins")).items()}


def _ending(rank: Mapping[str, Json]) -> str:
    if rank.get("signal") is not None:
        return f"signal {escape(str(rank['signal']))}"
    return "exit ?" if rank.get("exit") is None else f"exit {escape(str(rank['exit']))}"


def _listed(values: list[str], most: int = 4) -> str:
    folded = fold(values)
    return ", ".join(folded[:most]) + (f", +{len(folded) - most}" if len(folded) > most else "")


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _objects(value: Json) -> list[dict[str, Json]]:
    return [v for v in _list(value) if isinstance(v, dict)]


def _capped(items: list[tuple[str, ...]], most: int) -> Section:
    return Section(items=tuple(items[:most]), left=max(0, len(items) - most))
