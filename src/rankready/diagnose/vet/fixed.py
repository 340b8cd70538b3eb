"""Values that stand in the script itself: constants, names of constants, texts made of them, defaults of arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankready.diagnose.vet.program import keyword, literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankready.diagnose.vet.program import Module, Program

_DEEP = 6
_OPTIONS = ("*.add_argument", "*.option", "click.option", "*.add_option")


@dataclass(frozen=True, slots=True)
class Fixed:
    """A value that the script gives. ``unless_told``: it is an argument's default, the command line may say another."""

    value: str | int | float
    unless_told: bool = False


def fixed(program: Program, module: Module, node: ast.expr | None, deep: int = 0) -> Fixed | None:
    """Return the one value that an expression can have by what the script says alone; None where that is open."""
    plain = literal(node)
    if node is None or plain is not None or deep > _DEEP:
        return None if plain is None else Fixed(plain)
    match node:
        case ast.Call(func=ast.Name(id="str" | "int"), args=[inner]):
            return fixed(program, module, inner, deep + 1)
        case ast.JoinedStr(values=parts):
            return _joined([_part(program, module, p, deep) for p in parts])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([fixed(program, module, left, deep + 1), fixed(program, module, right, deep + 1)])
        case ast.Name(id=name) | ast.Attribute(attr=name, value=ast.Name()):
            return _named(program, name, deep)
    return None


def _part(program: Program, module: Module, part: ast.expr, deep: int) -> Fixed | None:
    if isinstance(part, ast.FormattedValue):
        return fixed(program, module, part.value, deep + 1) if part.format_spec is None else None
    return fixed(program, module, part, deep + 1)


def _joined(parts: list[Fixed | None]) -> Fixed | None:
    known = [p for p in parts if p is not None]
    if len(known) < len(parts) or not any(isinstance(p.value, str) for p in known):
        return None
    return Fixed("".join(str(p.value) for p in known), any(p.unless_told for p in known))


def _named(program: Program, name: str, deep: int) -> Fixed | None:
    """A name has the value of all its assignments, when they agree; with none, an argument's default."""
    given = [(m, v) for m, v in program.values.get(name, ()) if not _itself(v, name)]
    found = {fixed(program, m, v, deep + 1) for m, v in given}
    defaults = list(_defaults(program, name))
    if not given:
        found = {None if (d := literal(default)) is None else Fixed(d, unless_told=True) for default in defaults}
    elif defaults:
        return None  # what the command line says is changed afterwards
    return found.pop() if len(found) == 1 else None


def _itself(value: ast.expr, name: str) -> bool:
    """``backend=args.backend`` only hands it on."""
    return (isinstance(value, ast.Name) and value.id == name) or (
        isinstance(value, ast.Attribute) and value.attr == name
    )


def _defaults(program: Program, name: str) -> Iterator[ast.expr]:
    for _, call in program.called(*_OPTIONS):
        if name in _destinations(call) and (default := keyword(call, "default")) is not None:
            yield default


def _destinations(call: ast.Call) -> set[str]:
    said = literal(keyword(call, "dest"))
    if isinstance(said, str):
        return {said}
    words = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return {w.lstrip("-").replace("-", "_") for w in words}
