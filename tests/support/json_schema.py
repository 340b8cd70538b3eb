"""As much of JSON Schema as our own schema uses; a keyword that is not known here is an error, never passed over."""

from __future__ import annotations

import re
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
SILENT = {"$schema", "$id", "$defs", "title", "description", "then"}


def mistakes(schema: dict[str, Any], value: Any, at: str = "$", root: dict[str, Any] | None = None) -> list[str]:  # noqa: ANN401  (any JSON value)
    """Return every place where a value breaks a schema."""
    root = root or schema
    found: list[str] = []
    for word, rule in schema.items():
        if word not in SILENT:
            found += KEYWORDS[word](rule, value, at, (schema, root))
    return found


def _type(rule: Any, value: Any, at: str, _: Any) -> list[str]:  # noqa: ANN401  (the same, and below)
    names = rule if isinstance(rule, list) else [rule]
    right = any(
        isinstance(value, TYPES[n]) and not (isinstance(value, bool) and n in ("integer", "number")) for n in names
    )
    return [] if right else [f"{at}: {value!r:.60} is no {'/'.join(names)}"]


def _properties(rule: Any, value: Any, at: str, where: Any) -> list[str]:  # noqa: ANN401
    if not isinstance(value, dict):
        return []
    return [m for k, sub in rule.items() if k in value for m in mistakes(sub, value[k], f"{at}.{k}", where[1])]


def _required(rule: Any, value: Any, at: str, _: Any) -> list[str]:  # noqa: ANN401
    return [f"{at}: no {k}" for k in rule if isinstance(value, dict) and k not in value]


def _additional(rule: Any, value: Any, at: str, where: Any) -> list[str]:  # noqa: ANN401
    known = where[0].get("properties", {})
    more = [k for k in value if k not in known] if isinstance(value, dict) else []
    if rule is False:
        return [f"{at}: unknown {k}" for k in more]
    return [m for k in more for m in mistakes(rule, value[k], f"{at}.{k}", where[1])]


def _items(rule: Any, value: Any, at: str, where: Any) -> list[str]:  # noqa: ANN401
    items = value if isinstance(value, list) else []
    return [m for n, item in enumerate(items) for m in mistakes(rule, item, f"{at}[{n}]", where[1])]


def _ref(rule: Any, value: Any, at: str, where: Any) -> list[str]:  # noqa: ANN401
    found = where[1]
    for part in rule.removeprefix("#/").split("/"):
        found = found[part]
    return mistakes(found, value, at, where[1])


def _any_of(rule: Any, value: Any, at: str, where: Any) -> list[str]:  # noqa: ANN401
    tried = [mistakes(sub, value, at, where[1]) for sub in rule]
    return [] if [] in tried else min(tried, key=len)


def _if(rule: Any, value: Any, at: str, where: Any) -> list[str]:  # noqa: ANN401
    return mistakes(where[0]["then"], value, at, where[1]) if not mistakes(rule, value, at, where[1]) else []


KEYWORDS: dict[str, Any] = {
    "type": _type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "items": _items,
    "$ref": _ref,
    "anyOf": _any_of,
    "allOf": lambda rule, value, at, where: [m for sub in rule for m in mistakes(sub, value, at, where[1])],
    "if": _if,
    "enum": lambda rule, value, at, _: [] if value in rule else [f"{at}: {value!r:.60} is none of {rule}"],
    "const": lambda rule, value, at, _: [] if value == rule else [f"{at}: {value!r:.60} is not {rule!r}"],
    "pattern": lambda rule, value, at, _: (
        [] if re.search(rule, value) else [f"{at}: {value!r:.60} has not the form {rule}"]
    ),
    "minLength": lambda rule, value, at, _: [] if len(value) >= rule else [f"{at}: too short"],
    "minimum": lambda rule, value, at, _: [] if value is None or value >= rule else [f"{at}: {value} is below {rule}"],
}
