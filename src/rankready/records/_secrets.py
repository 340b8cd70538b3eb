"""What must not leave the machine: passwords, tokens and keys, by their names, their shapes and their company."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

REMOVED = "(removed)"

_ANYWHERE = (
    r"passw(?:or)?d|passphrase|passcode|secret|credential|token(?!i[zs])|api[_-]?key|access[_-]?key|private[_-]?key"
)
_ALONE = r"pass|pwd|cred|auth|bearer|cookie|session[_-]?id|signature|dsn"  # parts of harmless words too
_NAMES = rf"{_ANYWHERE}|{_ALONE}"
_NAME = re.compile(
    rf"{_ANYWHERE}|(?:^|[\W_])(?:{_ALONE})s?\d*(?:$|[\W_])|_key\d*$",
    re.IGNORECASE,
)
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)", re.DOTALL
)
# shapes that are nothing but a secret wherever they stand
_SHAPES = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_[A-Za-z0-9]{20,}|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|"
    r"AKIA[0-9A-Z]{16}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)"
)
_USERINFO = re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/=._-]{8,}")
_ASSIGNED = re.compile(
    rf"(?i)((?:^|[\s\"'{{,;?&-])(?:[\w.-]*(?:{_NAMES})s?(?:[_.-][\w.-]*)?|\w+_key)[\"']?\s*[=:]\s*)"
    r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&}\]\"']+)"
)
_SPOKEN = re.compile(rf"(?i)(--?(?:[\w-]*(?:{_NAMES})s?))(\s+)(\"[^\"\n]*\"|'[^'\n]*'|[^\s-][^\s]*)")
_DENSE = re.compile(r"[A-Za-z0-9+/_=.-]{20,}")
_BITS = 3.0  # of a character, as in random letters and digits; a wrong guess only hides a value


def secret_name(name: str) -> bool:
    """Tell whether a variable, key or option of this name holds what nobody else may read."""
    return _NAME.search(name) is not None


def secret_value(text: str) -> bool:
    """Tell whether a value alone looks like one: a known shape, or dense letters and digits that form no path."""
    if scrub(text) != text:
        return True
    if not _DENSE.fullmatch(text) or "/" in text[:1] or not (re.search("[0-9]", text) and re.search("[A-Za-z]", text)):
        return False
    return _bits(text) > _BITS


def scrub(text: str) -> str:
    """Return a text without what is recognised as a secret within it."""
    text = _KEY_BLOCK.sub(REMOVED, text)
    text = _SHAPES.sub(REMOVED, text)
    text = _USERINFO.sub(REMOVED, text)
    text = _BEARER.sub(rf"\1 {REMOVED}", text)
    text = _ASSIGNED.sub(rf"\1{REMOVED}", text)
    return _SPOKEN.sub(rf"\1\2{REMOVED}", text)


def clean(value: Any, *, variables: bool = False) -> Any:  # noqa: ANN401  (any JSON value)
    """Return a JSON value without secrets. ``variables``: its entries are environment variables."""
    match value:
        case dict():
            return {scrub(str(k)): _entry(str(k), v, variables=variables) for k, v in value.items()}
        case list():
            return _words(value)
        case str():
            return scrub(value)
    return value


def _entry(name: str, value: Any, *, variables: bool) -> Any:  # noqa: ANN401  (the same)
    if secret_name(name) and not isinstance(value, (dict, bool)) and value is not None:
        return REMOVED
    if variables and isinstance(value, str) and secret_value(value):
        return REMOVED
    return clean(value, variables=variables or name in ("env", "environ", "environment", "defaults"))


def _words(words: list[Any]) -> list[Any]:
    """A command's words: what follows an option with such a name is its value."""
    out: list[Any] = []
    after = False
    for word in words:
        out.append(REMOVED if after and isinstance(word, str) else clean(word))
        after = isinstance(word, str) and _OPTION.fullmatch(word) is not None and secret_name(word.lstrip("-"))
    return out


def _bits(text: str) -> float:
    counted = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counted.values())
