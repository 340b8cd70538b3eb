"""Whatever a person reads stands in both languages, equal in content as far as a test can tell."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "rankready"
CHINESE = re.compile(r"[一-鿿]")
LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
VALUE = "\0"
PATH = re.compile(r"/[a-z][\w./-]*")
# words that are the field's own in both languages, or units
FIELD_WORDS = re.compile(r"\b(rank|ranks|rankready|server|leaf|vs|HCCL|MiB|GiB|port|exit|signal|simulated|NPU)\b")


def literal(node: ast.AST) -> str | None:
    """The words of a string, with a mark for each value in it; None where it is no literal."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(literal(p) or VALUE for p in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, two = literal(left), literal(right)
            return None if one is None or two is None else one + two
    return None


def texts() -> Iterator[tuple[str, str, str]]:
    """Every pair that the sources write down: where, English, Chinese."""
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text"):
                continue
            given = dict(zip(("en", "zh"), node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
            en, zh = (literal(given[k]) if k in given else None for k in ("en", "zh"))
            if en is not None and zh is not None:
                yield f"{path.relative_to(SRC)}:{node.lineno}", en, zh


PAIRS = tuple(texts())


def test_there_are_many_pairs_and_none_is_half_empty() -> None:
    assert len(PAIRS) > 500
    assert [p for p in PAIRS if bool(p[1].strip()) != bool(p[2].strip())] == []


def test_english_is_english() -> None:
    assert [p for p in PAIRS if CHINESE.search(p[1])] == []


def test_chinese_is_chinese_unless_it_is_a_command_or_the_fields_own_word() -> None:
    def fine(en: str, zh: str) -> bool:
        if CHINESE.search(zh) or zh.lstrip(VALUE + " ").startswith(("rankready ", "python3 ")):
            return True
        plain = PATH.sub(" ", en.replace(VALUE, " "))
        return not LATIN_WORD.search(FIELD_WORDS.sub("", plain))

    assert [p for p in PAIRS if not fine(p[1], p[2])] == []


def test_commands_named_in_one_language_are_named_in_the_other() -> None:
    """A remedy's command is what the reader types: it must not get lost in translation."""
    command = re.compile(r"rankready ([a-z]{2,}(?: --[a-z-]+)?)")
    verbs = {p.stem for p in (SRC / "cli").glob("*.py")}

    def named(text: str) -> set[str]:
        return {found for found in command.findall(text) if found.split()[0] in verbs}

    assert [p for p in PAIRS if named(p[1]) != named(p[2])] == []


def test_values_in_one_language_are_in_the_other() -> None:
    """A value that only one language tells makes the other say less; a repeated one does not count."""
    lost = [p for p in PAIRS if (VALUE in p[1]) != (VALUE in p[2])]
    assert lost == []
