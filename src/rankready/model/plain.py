"""Any of our values as what JSON knows."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import Any

from rankready.model.place import Place

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def plain(value: Any) -> Json:  # noqa: ANN401  (any value of ours, or of a verb's own JSON parts)
    """Turn a value into JSON's own: a place and an address as their text, a dataclass as an object.

    Numbers that JSON cannot write (NaN, infinities) become null; sets are sorted by their text; halves of surrogate
    pairs become question marks.
    """
    match value:
        case Enum():
            return plain(value.value)
        case None | bool() | int() | float() | str() | bytes():
            return _scalar(value)
        case Mapping():
            return {_key(k): plain(v) for k, v in value.items()}
        case list() | tuple() | AbstractSet():
            return _list(value)
    return _object(value)


def _scalar(value: bool | float | str | bytes | None) -> Json:  # noqa: FBT001  (a bool is one of the values)
    match value:
        case str():
            return value if value.isascii() else value.encode(errors="replace").decode()
        case bytes():
            return value.decode(errors="replace")
        case float():
            return value if isfinite(value) else None
    return value


def _list(value: list[Any] | tuple[Any, ...] | AbstractSet[Any]) -> Json:
    items = [plain(v) for v in value]
    return sorted(items, key=str) if isinstance(value, AbstractSet) else items


def _object(value: object) -> Json:
    if is_dataclass(value) and not isinstance(value, (type, Place)):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return plain(str(value))  # places, addresses, networks, paths, dates: their text is their value


def _key(key: object) -> str:
    found = plain(key)
    return found if isinstance(found, str) else str(found)
