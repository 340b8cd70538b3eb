"""Moments as logs print them, in seconds of the printed clock; no zone is known, none is assumed (facts/logs 3.1)."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (printed clocks have no zone)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTH = "(" + "|".join(_MONTHS) + r"|1?\d月)"  # a Chinese locale: ``二 3月 10 09:05:31 2026``
_NUMBERS = re.compile(r"(\d{4})-(\d\d)-(\d\d)[-T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{3})(?:\.?(\d{3}))?)?", re.ASCII)
_WORDS = re.compile(rf"(?:[A-Z][a-z]{{2}} )?{_MONTH} +(\d{{1,2}}) (\d\d):(\d\d):(\d\d)(?: (\d{{4}}))?", re.ASCII)
_GLOG = re.compile(r"^[IWEF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{3})", re.ASCII)
_FILE = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})", re.ASCII)
_EARLY = 64  # a line's own moment stands near its start


def stamp(text: str, year: int) -> float | None:
    """Return the first moment near a line's start; ``year`` is for the forms that print none."""
    head = text[:_EARLY]
    if match := _NUMBERS.search(head):
        return _numbers(match)
    if match := _WORDS.search(head):
        month, day, hour, minute, second, own = match.groups()
        return _moment((int(own or year), _month(month), int(day), int(hour), int(minute), int(second)), 0)
    if match := _GLOG.search(head):
        month, day, hour, minute, second, milli = (int(g) for g in match.groups())
        return _moment((year, month, day, hour, minute, second), milli * 1000)
    return None


def _month(name: str) -> int:
    return int(name[:-1]) if name.endswith("月") else _MONTHS.index(name) + 1


def whole(text: str) -> float | None:
    """Return the moment of a text that is one: ISO, or the C library's (``Tue Nov 18 09:05:31 2025``)."""
    return stamp(text.strip(), 1970)


def file_stamp(digits: str) -> float | None:
    """Return the moment in a log file's name: 17 digits down to the millisecond."""
    match = _FILE.fullmatch(digits)
    if match is None:
        return None
    *parts, milli = (int(g) for g in match.groups())
    return _moment(tuple(parts), milli * 1000)


def shown(seconds: float, *, fine: bool = False) -> str:
    """Write a moment as ISO without a zone; whole seconds unless ``fine``."""
    moment = _EPOCH + dt.timedelta(seconds=round(seconds, 3 if fine else 0))
    return moment.isoformat(timespec="milliseconds" if fine else "seconds")


def clock(seconds: float) -> str:
    """Write the time of day alone."""
    return shown(seconds)[11:]


def year_of(seconds: float | None) -> int:
    """Return the year of a moment; without one, the epoch's."""
    return 1970 if seconds is None else (_EPOCH + dt.timedelta(seconds=seconds)).year


def _numbers(match: re.Match[str]) -> float | None:
    year, month, day, hour, minute, second, milli, micro = match.groups()
    parts = (int(year), int(month), int(day), int(hour), int(minute), int(second))
    return _moment(parts, int(milli or 0) * 1000 + int(micro or 0))


def _moment(parts: tuple[int, ...], micro: int) -> float | None:
    base = _seconds(parts)
    return None if base is None else base + micro / 1e6


@lru_cache(maxsize=4096)
def _seconds(parts: tuple[int, ...]) -> float | None:
    try:
        return (dt.datetime(*parts[:6]) - _EPOCH).total_seconds()  # type: ignore[arg-type]  # noqa: DTZ001  (as above)
    except (ValueError, OverflowError):
        return None
